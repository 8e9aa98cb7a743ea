import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../../test/ground/temp.ts";
import { loadConfig } from "../config/config.ts";
import { checkBlocklist } from "./blocklist.ts";

const examine = async (path?: string) =>
  (await checkBlocklist(loadConfig(path === undefined ? {} : { QL_BLOCKLIST: path }, "/nonexistent"))).map(
    ({ status, found }) => `${status}: ${found}`,
  );

function file(text: string): string {
  const path = join(tempFolder("blocklist"), "hosts");
  writeFileSync(path, text);
  return path;
}

test("without a blocklist there is nothing to find", async () => {
  expect(await examine()).toEqual([]);
});

test("a good one is counted, a bad line is named, and one that cannot be read fails", async () => {
  const good = file("a.example\n*.b.example\n");
  expect(await examine(good)).toEqual([`ok: 2 hosts in ${good}`]);
  const bad = file("a.example\n\nhttps://b.example\n");
  expect(await examine(bad)).toEqual([`warn: 1 hosts in ${bad}; 1 lines are not hosts, the first is line 3`]);
  expect((await examine("/nonexistent/hosts"))[0]).toStartWith("fail: ENOENT");
});
