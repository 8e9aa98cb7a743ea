import { expect, test } from "bun:test";
import { Late, withDeadline } from "./deadline.ts";

test("work that is done in time is answered", async () => {
  expect(await withDeadline(Promise.resolve(42), 100, "SQL")).toBe(42);
});

test("work that fails in time fails as it did", async () => {
  const reason = new Error("no");
  await expect(withDeadline(Promise.reject(reason), 100, "SQL")).rejects.toBe(reason);
});

test("work that takes too long is late, and its result is ignored", async () => {
  const slow = Promise.withResolvers<number>();
  const error = await withDeadline(slow.promise, 10, "SQL").catch((late: unknown) => late);
  expect(error).toBeInstanceOf(Late);
  expect(error).toHaveProperty("message", "SQL did not answer within 10 ms");
  slow.reject(new Error("after all"));
});

test("an answer that came while the thread was busy is in time", async () => {
  const echo = Bun.spawn(["cat"], { stdin: "pipe", stdout: "pipe" });
  try {
    const answers = echo.stdout.getReader();
    echo.stdin.write("ready");
    echo.stdin.flush();
    await answers.read();
    echo.stdin.write("yes");
    echo.stdin.flush();
    const waiting = withDeadline(answers.read(), 50, "the other process");
    const until = performance.now() + 300;
    while (performance.now() < until);
    const { value } = await waiting;
    expect(new TextDecoder().decode(value)).toBe("yes");
  } finally {
    echo.kill();
    await echo.exited;
  }
});
