import { expect, test } from "bun:test";
import { createLog } from "./log.ts";

function lines(readable: boolean, write: (log: ReturnType<typeof createLog>) => void): string {
  const written: string[] = [];
  write(createLog("info", { write: (line) => void written.push(line) }, readable, () => 0));
  return written.join("");
}

test.each([false, true])("keys, cookies, passwords and addresses never reach the output (readable: %p)", (readable) => {
  const secret = "do-not-show";
  const fields = { authorization: secret, cookie: secret, password: secret, key: secret, address: secret, ip: secret };
  const text = lines(readable, (log) => {
    log.info(fields, "a request");
    log.warn({ request: fields }, "the same, one level down");
  });
  expect(text).not.toContain(secret);
  expect(text).toContain("a request");
});

test("a line for people shows no control characters of strangers", () => {
  expect(lines(true, (log) => log.warn({ text: "\u001b[2J" }, "odd\r"))).toBe(
    "00:00:00  warn   odd\\u000d  text=\\u001b[2J\n",
  );
});
