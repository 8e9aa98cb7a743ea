/**
 * That `npm run prove` works: a proof holds, and fails on its planted mistakes. Quotas and idempotency have proofs that are
 * judged on a quiet machine only; `test/e2e/redis.test.ts` and `test/e2e/idempotency.test.ts` have a short case of each.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { cleanEnvironment, runProcess } from "./ground/process.ts";

const root = join(import.meta.dir, "..");

async function prove(...args: string[]) {
  const command = [process.execPath, "--no-env-file", "prove/run.ts", ...args];
  const { code, stdout, stderr } = await runProcess(command, {
    cwd: root,
    env: cleanEnvironment(),
    timeoutMs: 170_000,
  });
  return { code, output: `${stdout}${stderr}` };
}

test.concurrent("a short proof holds", async () => {
  const { code, output } = await prove("ssrf", "--short", "--plays", "tricks,rebinding");
  expect({ code, output }).toEqual({
    code: 0,
    output: expect.stringMatching(/claims=[1-9]\d* held=\d+ missed=0 not_judged=0/),
  });
}, 180_000);

test.concurrent("a proof fails on each of its planted mistakes", async () => {
  const { code, output } = await prove("ssrf", "--control");
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/ssrf planted=([1-9]\d*) caught=\1 /) });
}, 180_000);
