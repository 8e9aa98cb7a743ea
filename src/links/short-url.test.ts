import { expect, test } from "bun:test";
import { shortUrl } from "./short-url.ts";

test("a link is at the server's address, or at its own domain by the same scheme", () => {
  const at = (baseUrl: string, domain: string) => shortUrl(baseUrl, { domain, code: "sale" });
  expect(at("https://go.example.com", "")).toBe("https://go.example.com/sale");
  expect(at("http://localhost:3000", "")).toBe("http://localhost:3000/sale");
  expect(at("https://go.example.com:8443", "links.acme.example")).toBe("https://links.acme.example/sale");
  expect(at("http://localhost:3000", "links.acme.example")).toBe("http://links.acme.example/sale");
});
