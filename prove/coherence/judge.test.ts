import { describe, expect, test } from "bun:test";
import { judge, type Rules } from "./judge.ts";
import { createRecord, type Record } from "./record.ts";

const rules: Rules = { p99Ms: 100, maxMs: 3_000, unansweredMost: 0.01, ownAtOnce: true };
const [writer, reader] = [0, 1];
const code = "hot";
const reads = 1_000;
const idleMs = 1;

/** Two servers, one edit made on the first of them, and nothing wrong but what is added. */
function judged(add: (record: Record) => void = () => {}, server = reader, more: Partial<Rules> = {}) {
  const record = createRecord(2);
  for (const one of [writer, reader]) {
    for (let i = 0; i < reads; i++) record.answer(one, code, 1, record.before(one, code));
    record.idle(one, idleMs);
  }
  record.ack(code, 2, writer);
  add(record);
  const recorded = record.conclude()[server];
  if (recorded === undefined) throw new Error("no such server");
  return judge("a phase", recorded, { ...rules, ...more });
}

const read = (record: Record, server: number, version: number) =>
  record.answer(server, code, version, record.before(server, code));

/** As if the last answer with an old version had come this late. */
const late = (ms: number, idle = idleMs) =>
  judge(
    "a phase",
    {
      ...{ acked: 10, reads, readsMeanwhile: reads, wrong: 0, wrongExample: undefined, unanswered: 0, lost: 0 },
      ...{ wentBack: 0, own: 5, behindItself: 0, staleness: { p50: 0, p99: ms, max: ms }, idleP99Ms: idle },
    },
    rules,
  );

describe("the judge of coherence", () => {
  test("holds when all is well", () => {
    expect(judged().broken).toEqual([]);
    expect(late(100)).toMatchObject({ broken: [], unjudged: undefined });
  });

  const mistakes: [string, string, (record: Record) => void, number, Partial<Rules>?][] = [
    ["an answer is wrong", "wrong answers, such as hot: 404", (record) => record.wrong(reader, "hot: 404"), reader],
    [
      "a server goes back",
      "went back",
      (record) => {
        read(record, reader, 2);
        read(record, reader, 1);
      },
      reader,
    ],
    ["the writer answers with what was before its edit", "its own edits", (record) => read(record, writer, 1), writer],
    ["a connection is lost", "lost", (record) => record.noAnswer(reader, "lost"), reader],
    [
      "many are not answered",
      "unanswered",
      (record) => {
        for (let i = 0; i < 11; i++) record.noAnswer(reader, "unanswered");
      },
      reader,
    ],
  ];

  test.each(mistakes)("does not hold if %s", (_, says, add, server, more = {}) => {
    expect(judged(add, server, more).broken.join()).toContain(says);
  });

  test("does not hold if nobody read, or nothing was edited", () => {
    const record = createRecord(1);
    record.ack(code, 2, undefined);
    for (let i = 0; i < reads; i++) read(record, 0, 2); // too late: all edits were made
    const [unread] = record.conclude();
    const [unedited] = record.conclude();
    if (unread === undefined || unedited === undefined) throw new Error("no such server");
    expect(judge("a phase", unread, rules).broken.join()).toContain("fewer than 100");
    expect(judge("a phase", unedited, rules).broken.join()).toContain("nothing was edited");
  });

  test("does not hold if edits are seen too late", () => {
    expect(late(101).broken.join()).toContain("p99");
    expect(late(3_001).broken.join()).toContain("3,001 ms");
  });

  test("says when the machine is too busy to judge, and still fails what no busy machine explains", () => {
    expect(late(101, 20)).toMatchObject({ broken: [], unjudged: expect.stringContaining("too busy") });
    expect(late(161, 20).broken.join()).toContain("p99");
    expect(late(101, 9).broken.join()).toContain("p99");
  });

  test("lets a server that is killed lose connections, and one that reads from a replica be behind its own edits", () => {
    const lose = (record: Record) => record.noAnswer(reader, "lost");
    expect(judged(lose, reader, { killed: true }).broken).toEqual([]);
    expect(judged((record) => read(record, writer, 1), writer, { ownAtOnce: false }).broken).toEqual([]);
  });
});
