import { expect, test } from "bun:test";
import { loadConfig } from "../config/config.ts";
import { checkAddress } from "./address.ts";
import { judgeSpace } from "./disk.ts";
import { judgeWorkers } from "./machine.ts";

const gigabyte = 1_073_741_824;

test.each([
  [50 * gigabyte, "ok"],
  [0.9 * gigabyte, "warn"],
  [0.05 * gigabyte, "fail"],
] as const)("%d bytes of free disk are %s", (bytes, status) => {
  const finding = judgeSpace("/data", bytes);
  expect(finding.status).toBe(status);
  if (status !== "ok") expect(finding.advice).toContain("Free disk space");
});

test("more workers than cores are worth a warning", () => {
  expect(judgeWorkers(4, 4).status).toBe("ok");
  expect(judgeWorkers(5, 4)).toMatchObject({ status: "warn", advice: "Set QL_WORKERS to at most 4." });
});

const scaled = { DATABASE_URL: "postgres://db/x", QL_CODE_SALT: "a salt for the address" };
const proxied = { QL_TRUSTED_PROXIES: "10.0.0.1" };

test.each([
  ["none, on one's own machine", {}, undefined],
  ["http, without a proxy", { QL_BASE_URL: "http://go.example.com" }, undefined],
  ["https, with a proxy", { QL_BASE_URL: "https://go.example.com", ...proxied }, undefined],
  ["none, with PostgreSQL", scaled, /Set QL_BASE_URL to the public address/],
  ["localhost, behind a proxy", { QL_BASE_URL: "http://localhost:3000", ...proxied }, /Set QL_BASE_URL/],
  ["http, behind a proxy", { QL_BASE_URL: "http://go.example.com", ...proxied }, /TLS.*https:/],
  ["https, with no proxy trusted", { QL_BASE_URL: "https://go.example.com" }, /Set QL_TRUSTED_PROXIES/],
] as const)("an address that is %s", async (_, environment, advice) => {
  const [finding, ...others] = await checkAddress(loadConfig(environment, "/nonexistent"));
  expect(others).toEqual([]);
  expect(finding?.status).toBe(advice === undefined ? "ok" : "warn");
  if (advice !== undefined) expect(finding?.advice).toMatch(advice);
});
