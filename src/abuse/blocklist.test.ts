import { describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../../test/ground/temp.ts";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createBlocklist, parseBlocklist } from "./blocklist.ts";

describe("the lines of a blocklist", () => {
  const { hosts, bad } = parseBlocklist(
    [
      "# who we do not send visitors to",
      "evil.example # with a reason",
      "*.free-pages.example",
      "BÜCHER.example.",
      "192.0.2.7",
      "[2001:DB8::7]",
      "",
      "https://not-a-host.example/",
      "two words.example",
      "host.example:8080",
      "*",
      "a.*.example",
      "user@host.example",
    ].join("\r\n"),
  );

  test.each([
    ["evil.example", true],
    ["www.evil.example", true],
    ["a.b.evil.example.", true],
    ["notevil.example", false],
    ["example", false],
    ["free-pages.example", false],
    ["me.free-pages.example", true],
    ["xn--bcher-kva.example", true],
    ["192.0.2.7", true],
    ["192.0.2.70", false],
    ["[2001:db8::7]", true],
  ])("%s: %p", (host, blocked) => {
    expect(hosts.has(host)).toBe(blocked);
  });

  test("that are not hosts are reported by their number", () => {
    expect(bad.map(({ line }) => line)).toEqual([8, 9, 10, 11, 12, 13]);
  });

  test("mean the same in another order", () => {
    const of = (text: string) => parseBlocklist(text).hosts.fingerprint;
    expect(of("a.example\nb.example # why")).toBe(of("b.example\n\na.example"));
    expect(of("a.example")).not.toBe(of("*.a.example"));
  });
});

describe("a blocklist's file", () => {
  function watched(path: string) {
    const lines: string[] = [];
    const clock = manualClock(0);
    const log = createLog("info", { write: (line) => void lines.push(line) }, false, () => 0);
    const blocklist = createBlocklist({ path, clock, log });
    return { blocklist, lines, later: () => clock.advance(1_000) };
  }

  function replace(path: string, text: string): void {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  test("is in force a second after it changed, without a restart", () => {
    const path = join(tempFolder("blocklist"), "hosts");
    replace(path, "one.example\n");
    const { blocklist, later } = watched(path);
    expect([blocklist.isBlocked("one.example"), blocklist.isBlocked("two.example")]).toEqual([true, false]);
    const before = blocklist.fingerprint();
    replace(path, "two.example\n");
    later();
    expect([blocklist.isBlocked("one.example"), blocklist.isBlocked("two.example")]).toEqual([false, true]);
    expect(blocklist.fingerprint()).not.toBe(before);
  });

  test("that vanishes leaves the last list in force, and says so once", () => {
    const path = join(tempFolder("blocklist"), "hosts");
    replace(path, "one.example\n");
    const { blocklist, lines, later } = watched(path);
    blocklist.isBlocked("x");
    rmSync(path);
    for (let i = 0; i < 3; i++) {
      later();
      expect(blocklist.isBlocked("one.example")).toBe(true);
    }
    expect(lines.filter((line) => line.includes("keeping the previous one"))).toHaveLength(1);
    replace(path, "two.example\n");
    later();
    expect(blocklist.isBlocked("one.example")).toBe(false);
  });

  test("with bad lines works with the good ones, and names the bad by number", () => {
    const path = join(tempFolder("blocklist"), "hosts");
    replace(path, "one.example\nhttp://two.example\n");
    const { blocklist, lines } = watched(path);
    expect(blocklist.isBlocked("one.example")).toBe(true);
    expect(lines.map((line) => JSON.parse(line).line).filter(Boolean)).toEqual([2]);
  });

  test("that was never there blocks nothing and has no fingerprint", () => {
    const { blocklist, lines } = watched(join(tempFolder("blocklist"), "nowhere"));
    expect([blocklist.isBlocked("one.example"), blocklist.fingerprint()]).toEqual([false, undefined]);
    expect(lines).toHaveLength(1);
  });
});
