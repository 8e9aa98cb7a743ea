import { expect, test } from "bun:test";
import { createLog } from "../base/log.ts";
import type { MountTools } from "../http/mount.ts";
import { mountReports } from "./mount.ts";
import type { NewReport, Reports } from "./reports.ts";

function setUp({ wait }: { wait?: number } = {}) {
  const added: NewReport[] = [];
  const guesses: (string | undefined)[] = [];
  const add = async (report: NewReport) => {
    added.push(report);
    return "added" as const;
  };
  const mount = mountReports({
    reports: { add } as unknown as Reports,
    limit: { take: async () => wait },
    guesses: {
      blockedFor: () => undefined,
      missed: async (address) => void guesses.push(address),
      blocked: 0,
    },
    find: async (_, code) => (code === "known" ? { url: "https://example.com/" } : undefined),
    log: createLog("silent", { write() {} }, false, () => 0),
  });
  const send = async (code: string) =>
    await mount.handle(
      new Request("http://host/report", { method: "POST", body: new URLSearchParams({ code, reason: "spam" }) }),
      { path: "/report", domain: "", address: "203.0.113.7" } as MountTools,
    );
  return { send, added, guesses };
}

test("a report is stored, and reloading its answer does not send it again", async () => {
  const { send, added, guesses } = setUp();
  const response = await send("https://go.example.com/known+");
  expect([response.status, response.headers.get("location")]).toEqual([303, "/report?thanks"]);
  expect(added).toMatchObject([{ code: "known", reason: "spam", url: "https://example.com/" }]);
  expect(guesses).toEqual([]);
});

test("a report about an unknown code is a guess, and is not stored", async () => {
  const { send, added, guesses } = setUp();
  expect((await send("unknown")).status).toBe(422);
  expect(guesses).toEqual(["203.0.113.7"]);
  expect(added).toEqual([]);
});

test("beyond the limit nothing is looked up, and the answer says when to come back", async () => {
  const { send, added, guesses } = setUp({ wait: 60 });
  expect((await send("unknown")).status).toBe(429);
  expect([added, guesses]).toEqual([[], []]);
});
