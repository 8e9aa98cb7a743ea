import { describe, expect, test } from "bun:test";
import { type Claim, verdictOf } from "../proof.ts";
import { claimsOf, type Rules } from "./judge.ts";
import { createRecord, type Record, type Recorded } from "./record.ts";

const rules: Rules = { p99Ms: 100, maxMs: 3_000, unansweredMost: 0.01, ownAtOnce: true };
const [writer, reader] = [0, 1];
const code = "hot";
const reads = 1_000;
const idleMs = 1;

/** Two servers, one edit made on the first of them, and nothing wrong but what is added. */
function claimed(add: (record: Record) => void = () => {}, more: Partial<Rules> = {}): Claim[] {
  const record = createRecord(2);
  for (const one of [writer, reader]) {
    for (let i = 0; i < reads; i++) record.answer(one, code, 1, record.before(one, code));
    record.idle(one, idleMs);
  }
  record.ack(code, 2, writer);
  add(record);
  return claimsOf(
    "a scenario",
    1,
    record.conclude().map((recorded) => ({ recorded, rules: { ...rules, ...more } })),
  );
}

const missed = (claims: readonly Claim[]): string[] =>
  claims.filter((claim) => verdictOf(claim) === "missed").map(({ measure }) => measure);
const notJudged = (claims: readonly Claim[]): string[] =>
  claims.filter((claim) => verdictOf(claim) === "not judged").map(({ measure }) => measure);

const read = (record: Record, server: number, version: number) =>
  record.answer(server, code, version, record.before(server, code));

const good: Recorded = {
  ...{ acked: 10, reads, readsMeanwhile: reads, wrong: 0, wrongExample: undefined, unanswered: 0, lost: 0 },
  ...{ wentBack: 0, own: 5, behindItself: 0, staleness: { p50: 0, p99: 0, max: 0 }, idleP99Ms: idleMs },
};

/** As if the last answer of one of two servers with an old version had come this late. */
const late = (ms: number, idleP99Ms = idleMs) =>
  claimsOf("a scenario", 10, [
    { recorded: good, rules },
    { recorded: { ...good, staleness: { p50: 0, p99: ms, max: ms }, idleP99Ms }, rules },
  ]);

describe("the judge of coherence", () => {
  test("holds when all is well", () => {
    expect(missed(claimed())).toEqual([]);
    expect(missed(late(100))).toEqual([]);
    expect(notJudged(late(100))).toEqual([]);
  });

  const mistakes: [string, string, (record: Record) => void][] = [
    ["an answer is wrong", "wrong", (record) => record.wrong(reader, "hot: 404")],
    [
      "a server goes back",
      "went_back",
      (record) => {
        read(record, reader, 2);
        read(record, reader, 1);
      },
    ],
    ["the writer answers with what was before its edit", "behind_itself", (record) => read(record, writer, 1)],
    ["a connection is lost", "wrong", (record) => record.noAnswer(reader, "lost")],
    [
      "many are not answered",
      "refused",
      (record) => {
        for (let i = 0; i < 11; i++) record.noAnswer(reader, "unanswered");
      },
    ],
  ];

  test.each(mistakes)("does not hold if %s", (_, measure, add) => {
    expect(missed(claimed(add))).toEqual([measure]);
  });

  test("shows an answer that was wrong", () => {
    const claims = claimed((record) => record.wrong(reader, "hot: 404"));
    expect(claims.find(({ measure }) => measure === "wrong")?.done).toEndWith(", such as hot: 404");
  });

  test("does not hold if nobody read, or nothing was edited", () => {
    const record = createRecord(1);
    record.ack(code, 2, 0);
    for (let i = 0; i < reads; i++) read(record, 0, 2); // too late: all edits were made
    const [unread, unedited] = [record.conclude(), record.conclude()].map((servers) =>
      missed(
        claimsOf(
          "a scenario",
          1,
          servers.map((recorded) => ({ recorded, rules })),
        ),
      ),
    );
    expect(unread).toEqual(["reads"]);
    expect(unedited).toContain("edits");
    expect(unedited).toContain("p99_ms");
  });

  test("does not hold if there were fewer edits than planned", () => {
    expect(missed(claimsOf("a scenario", 11, [{ recorded: good, rules }]))).toEqual(["edits"]);
  });

  test("does not hold if edits are seen too late on one of the servers", () => {
    expect(missed(late(101))).toEqual(["p99_ms"]);
    expect(missed(late(3_001))).toEqual(["p99_ms", "longest_ms"]);
  });

  test("says when the machine is too busy to judge, and still fails what no busy machine explains", () => {
    expect(notJudged(late(101, 20))).toEqual(["p99_ms"]);
    expect(missed(late(101, 20))).toEqual([]);
    expect(missed(late(161, 20))).toEqual(["p99_ms"]);
    expect(missed(late(101, 9))).toEqual(["p99_ms"]);
    const refused = (unanswered: number, idleP99Ms: number) =>
      claimsOf("a scenario", 10, [{ recorded: { ...good, unanswered, idleP99Ms }, rules }]);
    expect(notJudged(refused(20, 30))).toEqual(["refused"]);
    expect(missed(refused(20, 20))).toEqual(["refused"]);
    expect(missed(refused(200, 30))).toEqual(["refused"]);
  });

  test("lets a server that is killed lose connections, and one that reads from a replica be behind its own edits", () => {
    const lose = (record: Record) => record.noAnswer(reader, "lost");
    expect(missed(claimed(lose, { killed: true }))).toEqual([]);
    expect(missed(claimed((record) => read(record, writer, 1), { ownAtOnce: false }))).toEqual([]);
  });
});
