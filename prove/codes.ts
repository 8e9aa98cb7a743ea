/**
 * Codes: all different, and none follows from another.
 *
 * 1. A million consecutive counters with a new random salt: all codes differ, all decode back to their counter.
 * 2. Without the salt they look random: how often consecutive codes agree in a position, how often each character
 *    occurs in a position, how often the next code is greater, and how much of a code changes with one bit of its
 *    counter. For comparison, the first sketch of ADR-004 (counter plus a constant) goes through the same tests and must
 *    be refused, or they would show nothing.
 * 3. Two processes issue from one database at the same time, on SQLite and on PostgreSQL, in blocks so small that they
 *    meet at the counter a thousand times each; one is killed with -9 halfway and a successor continues. No code occurs
 *    twice, and the crash skipped no more than the blocks that were begun.
 */
import { randomBytes, randomInt } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { progress } from "../bench/show.ts";
import { createLog } from "../src/base/log.ts";
import { type Codes, codeLength, codeSpace, decode as digitsOf, encode as writeDigits } from "../src/codes/codes.ts";
import { loadConfig } from "../src/config/config.ts";
import { openSql } from "../src/core.ts";
import { migrate } from "../src/sql/migrate.ts";
import type { Sql } from "../src/sql/sql.ts";
import { startPostgres } from "../test/ground/postgres.ts";
import { type Child, cleanEnvironment, startProcess, until } from "../test/ground/process.ts";
import { sourceFolder } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import { maxAbs, zMost, zOfAscents, zOfEvenness, zOfShare } from "./chance.ts";
import type { Attempt, Bound, Control, Proof } from "./proof.ts";
import { load } from "./source.ts";

const withMistake = (name: string, breaks: string, file: string, from: string, to: string): Control => ({
  ...{ name, edits: [{ file, from, to }], plays: [breaks.split(".")[0] ?? ""], breaks: [breaks] },
});

export const codes: Proof = {
  name: "codes",
  shows: "1,000,000 codes differ and look like chance; two processes never issue the same one",
  needs: ["postgresql"],
  controls: [
    withMistake(
      "a remainder instead of another pass",
      "permutation.decoded",
      "codes/codes.ts",
      "do value = permute(value, round);\n      while (value >= codeSpace);",
      "value = permute(value, round) % codeSpace;",
    ),
    withMistake("two rounds", "chance.codes", "codes/codes.ts", "const rounds = 10;", "const rounds = 2;"),
    withMistake(
      "a block that is used one number too far",
      "sqlite.duplicates",
      "codes/issuer.ts",
      "if (position < end) {",
      "if (position <= end) {",
    ),
    withMistake(
      "a counter that is read and then advanced",
      "postgres.duplicates",
      "sql/code-counter.ts",
      "const { next } = await sql.db",
      `const read = await sql.db.selectFrom("counters").select("next").where("name", "=", "codes").executeTakeFirstOrThrow();
  await sql.db.updateTable("counters").set({ next: read.next + size }).where("name", "=", "codes").execute();
  if (read.next >= 0) return read.next;
  const { next } = await sql.db`,
    ),
  ],
  run,
};

const usual = { counters: 1_000_000, flips: 2_000, perProcess: 100_000 };
const few = { counters: 100_000, flips: 200, perProcess: 20_000 };
type Sizes = typeof usual;
const flippedBits = 41; // 2^41 is the largest power of two within the space
const blockSize = 100;
const issueMs = 120_000;
const characters = 62;
const turnsLeast = 10;

type Encode = (counter: number) => string;

async function run(attempt: Attempt): Promise<void> {
  const { createCodes } = await load<typeof import("../src/codes/codes.ts")>("codes/codes.ts");
  const sizes = attempt.short ? few : usual;
  const salt = randomBytes(32).toString("hex");
  console.log(`salt=${salt}`);
  const permutation = createCodes(salt);
  if (attempt.plays("permutation")) allDifferent(attempt, sizes, permutation);
  if (attempt.plays("chance")) claimChance(attempt, sizes, permutation);
  if (attempt.plays("sqlite")) await twoProcesses(attempt, "sqlite", sizes, createCodes, {});
  if (!attempt.plays("postgres")) return;
  const postgres = await startPostgres({ durable: true });
  try {
    const url = await postgres.createDatabase("prove");
    await twoProcesses(attempt, "postgres", sizes, createCodes, { DATABASE_URL: url });
  } finally {
    await postgres.stop();
  }
}

function allDifferent({ claim }: Attempt, { counters }: Sizes, { encode, decode }: Codes): void {
  const shown = progress();
  const seen = new Set<string>();
  let decoded = 0;
  for (let counter = 0; counter < counters; counter++) {
    if (counter % 20_000 === 0) shown.now(`encoding and decoding: ${counter.toLocaleString("en-US")}`);
    const code = encode(counter);
    seen.add(code);
    if (decode(code) === counter) decoded++;
  }
  shown.end();
  console.log(`counters=${counters} distinct=${seen.size} decoded=${decoded}`);
  const done = "consecutive counters were encoded and decoded";
  const about = { promise: "no two counters have the same code", scenario: "permutation", done, times: counters };
  claim({ ...about, measure: "distinct", figure: seen.size, unit: "codes", bound: { exactly: counters } });
  claim({ ...about, measure: "decoded", figure: decoded, unit: "codes", bound: { exactly: counters } });
}

/** As a control, the counter plus a constant must be as far from chance as the codes must not be. */
function claimChance({ claim }: Attempt, sizes: Sizes, { encode }: Codes): void {
  const shifted: Encode = (counter) => writeDigits((counter + 1_234_567_890_123) % codeSpace);
  const tested: [string, Encode, Bound][] = [
    ["codes", encode, { most: zMost }],
    ["counter_plus_constant", shifted, { least: zMost }],
  ];
  for (const [measure, by, bound] of tested) {
    claim({
      promise: "no code follows from another without the salt",
      scenario: "chance",
      measure,
      done: `neighbours compared, and each of ${flippedBits} bits of ${sizes.flips} counters flipped`,
      times: sizes.counters,
      figure: distance(measure, by, sizes),
      unit: "standard deviations",
      bound,
    });
  }
}

/** How far the codes are from chance, by the worst of all figures. */
function distance(name: string, encode: Encode, { counters, flips }: Sizes): number {
  const pairs = neighbours(encode, counters);
  const bits = flipped(encode, flips);
  const share = (count: number, of: number) => (count / of).toFixed(5);
  const equal = pairs.equal.map((count) => zOfShare(count, counters - 1, 1 / characters));
  const even = pairs.occurrences.map(zOfEvenness);
  const ascents = zOfAscents(pairs.ascents, counters);
  const changed = bits.map((unchanged) => zOfShare(unchanged, flips * codeLength, 1 / characters));
  const all = maxAbs([...equal, ...even, ascents, ...changed]);
  const unchanged = bits.reduce((sum, count) => sum + count, 0);
  const z = (figures: readonly number[]) => `max_abs_z=${maxAbs(figures).toFixed(2)}`;
  const shares = pairs.equal.map((count) => share(count, counters - 1)).join(",");
  console.log(`${name}: pairs=${counters - 1} equal_share=${shares} chance=${share(1, characters)} ${z(equal)}`);
  console.log(`${name}: character_counts positions=${codeLength} ${z(even)}`);
  console.log(`${name}: ascending_share=${share(pairs.ascents, counters - 1)} chance=0.50000 ${z([ascents])}`);
  const changedShare = share(flippedBits * flips * codeLength - unchanged, flippedBits * flips * codeLength);
  const expected = share(characters - 1, characters);
  console.log(`${name}: flipped_bits=${flippedBits} changed_share=${changedShare} chance=${expected} ${z(changed)}`);
  console.log(`${name}: max_abs_z=${all.toFixed(2)} bound=${zMost}`);
  return all;
}

/** Over consecutive counters: equal characters and occurrences of each by position, and how often the next is greater. */
function neighbours(encode: Encode, counters: number) {
  const shown = progress();
  const equal = new Array<number>(codeLength).fill(0);
  const occurrences = Array.from({ length: codeLength }, () => new Array<number>(characters).fill(0));
  let ascents = 0;
  let before = "";
  for (let counter = 0; counter < counters; counter++) {
    if (counter % 20_000 === 0) shown.now(`comparing neighbours: ${counter.toLocaleString("en-US")}`);
    const code = encode(counter);
    const value = digitsOf(code) ?? 0;
    if (before !== "" && value > (digitsOf(before) ?? 0)) ascents++;
    let rest = value;
    for (let position = codeLength - 1; position >= 0; position--) {
      const counts = occurrences[position] ?? [];
      counts[rest % characters] = (counts[rest % characters] ?? 0) + 1;
      rest = Math.floor(rest / characters);
      if (code[position] === before[position]) equal[position] = (equal[position] ?? 0) + 1;
    }
    before = code;
  }
  shown.end();
  return { equal, occurrences, ascents };
}

/** For each bit of the counter, in how many places a code stays unchanged when the bit is flipped. */
function flipped(encode: Encode, flips: number): number[] {
  const unchanged = new Array<number>(flippedBits).fill(0);
  for (let i = 0; i < flips; i++) {
    const counter = randomInt(2 ** flippedBits);
    const code = encode(counter);
    for (let bit = 0; bit < flippedBits; bit++) {
      const isSet = Math.floor(counter / 2 ** bit) % 2 === 1;
      const other = encode(isSet ? counter - 2 ** bit : counter + 2 ** bit);
      for (let position = 0; position < codeLength; position++) {
        if (code[position] === other[position]) unchanged[bit] = (unchanged[bit] ?? 0) + 1;
      }
    }
  }
  return unchanged;
}

async function twoProcesses(
  { claim }: Attempt,
  database: string,
  { perProcess }: Sizes,
  createCodes: (salt: string) => Codes,
  extra: Record<string, string>,
): Promise<void> {
  const shown = progress();
  const folder = tempFolder("issue");
  const salt = randomBytes(32).toString("hex");
  const env = cleanEnvironment({ QL_DATA: folder, QL_CODE_SALT: salt, QL_CODE_BLOCK: String(blockSize), ...extra });
  const sql = await openSql(
    loadConfig(env, folder),
    createLog("silent", { write() {} }, false, () => 0),
  );
  try {
    await migrate(sql);
    const counterBefore = await counterOf(sql);
    const issued = (name: string): string[] => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1);
    const start = (name: string, count: number): Child =>
      startProcess(
        [
          ...[process.execPath, "--no-env-file", join(import.meta.dir, "issue.ts")],
          ...[String(count), join(folder, name), join(folder, "go"), sourceFolder],
        ],
        { cwd: folder, env },
      );

    const survivor = start("survivor", perProcess);
    const victim = start("victim", perProcess);
    await Promise.all([survivor.waitForOutput(/ready/), victim.waitForOutput(/ready/)]);
    writeFileSync(join(folder, "go"), "");
    const half = (perProcess / 2) * (codeLength + 1);
    await until(
      "half of the codes",
      () => {
        const bytes = statSync(join(folder, "victim")).size;
        shown.now(`${database}: ${Math.floor(bytes / (codeLength + 1)).toLocaleString("en-US")} codes each`);
        if (!victim.running()) throw new Error(`the process ended before it could be killed\n${victim.output()}`);
        return bytes >= half || undefined;
      },
      issueMs,
    );
    await victim.kill();
    const killedAt = issued("victim").length;
    const successor = start("successor", perProcess - killedAt);
    for (const child of [survivor, successor]) {
      if ((await ended(child)) !== 0) throw new Error(`a process failed\n${child.output()}`);
    }
    shown.end();

    const lists = ["survivor", "victim", "successor"].map(issued);
    const all = lists.flat();
    const duplicates = all.length - new Set(all).size;
    const skipped = (await counterOf(sql)) - counterBefore - all.length;
    const turns = turnsOf(lists, createCodes(salt));
    console.log(
      `database=${database} processes=2 killed_at=${killedAt} codes=${all.length} duplicates=${duplicates} ` +
        `skipped=${skipped} blocks=${Math.ceil(all.length / blockSize)} turns=${turns}`,
    );
    const about = {
      promise: "two processes on one database never issue the same code, and a crash skips numbers and repeats none",
      scenario: database,
      done: `two processes in blocks of ${blockSize}, one killed with -9 after ${killedAt} codes and replaced`,
      times: all.length,
    };
    claim({ ...about, measure: "duplicates", figure: duplicates, unit: "codes", bound: { exactly: 0 } });
    claim({ ...about, measure: "issued", figure: all.length, unit: "codes", bound: { exactly: 2 * perProcess } });
    // The block of each process that ended in any way may be only partly used.
    claim({ ...about, measure: "skipped", figure: skipped, unit: "numbers", bound: { most: 3 * blockSize } });
    // Without turns they did not meet.
    claim({ ...about, measure: "turns", figure: turns, unit: "turns", bound: { least: turnsLeast } });
  } finally {
    shown.end();
    await sql.close();
  }
}

async function counterOf(sql: Sql): Promise<number> {
  const row = await sql.db.selectFrom("counters").select("next").where("name", "=", "codes").executeTakeFirstOrThrow();
  return row.next;
}

async function ended(child: Child): Promise<number> {
  const code = await Promise.race([child.exited, Bun.sleep(issueMs).then(() => undefined)]);
  if (code !== undefined) return code;
  await child.kill();
  throw new Error(`a process did not end within ${issueMs} ms\n${child.output()}`);
}

/** How often, in the order of the counter, the next block went to another process. */
function turnsOf(lists: readonly (readonly string[])[], permutation: Codes): number {
  const owners = new Map<number, number>();
  for (const [owner, list] of lists.entries()) {
    for (const code of list) owners.set(Math.floor((permutation.decode(code) ?? 0) / blockSize), owner);
  }
  const inOrder = [...owners].sort(([a], [b]) => a - b).map(([, owner]) => owner);
  return inOrder.filter((owner, i) => i > 0 && owner !== inOrder[i - 1]).length;
}
