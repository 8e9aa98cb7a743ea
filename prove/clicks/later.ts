/**
 * What happens after the run: parts of a day, days, weeks and months end, which takes longer than a proof. The program's own code condenses
 * and writes with a later time, on the same database, while a server answers reports.
 */
import { join } from "node:path";
import { dayMs } from "../../src/base/clock.ts";
import { withDeadline } from "../../src/base/deadline.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { batchOf } from "../../test/conformance/click-batches.ts";
import { cleanEnvironment, type Environment, startProcess, until } from "../../test/ground/process.ts";
import { sourceVariable } from "../../test/ground/server.ts";
import { load } from "../source.ts";
import type { Stored } from "./stored.ts";
import { factsOf, type Visit } from "./truth.ts";

const condenseMs = 60_000;
const killed = 137;

/** With the source under test. */
export async function openUnderTest(env: Environment): Promise<Sql> {
  const { openSql } = await load<typeof import("../../src/core.ts")>("core.ts");
  const { createLog } = await load<typeof import("../../src/base/log.ts")>("base/log.ts");
  const silent = createLog("silent", { write() {} }, false, () => 0);
  return await openSql(loadConfig(cleanEnvironment(env), String(env.QL_DATA)), silent, { patient: true });
}

/**
 * Keeps the servers from condensing: by their clock, what is condensed here lies in the future, and they would take it back. Waits for a
 * run that has begun.
 */
export async function holdCondensing({ db }: Sql): Promise<void> {
  await until("condensing to be held", async () => {
    const { numUpdatedRows } = await db
      .updateTable("jobs")
      .set({ due_at: Date.now() + 100 * dayMs })
      .where("name", "=", "condense")
      .where("holder", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n || undefined;
  });
}

export async function condenseAt(sql: Sql, now: number): Promise<number> {
  const { condense } = await load<typeof import("../../src/clicks/rollups/rounds.ts")>("clicks/rollups/rounds.ts");
  return (await condense(sql, { now })).events;
}

/** The same in a process that is killed in its n-th transaction, before the commit. Whether it was. */
export async function condenseKilled(env: Environment, now: number, transactions: number): Promise<boolean> {
  const source = Bun.env[sourceVariable];
  const child = startProcess(
    [process.execPath, "--no-env-file", join(import.meta.dir, "condense-process.ts"), `${now}`, `${transactions}`],
    { env: cleanEnvironment({ ...env, ...(source !== undefined && { [sourceVariable]: source }) }) },
  );
  const code = await withDeadline(child.exited, condenseMs, "condensing");
  if (code !== 0 && code !== killed) throw new Error(`condensing ended with ${code}\n${child.output()}`);
  return code === killed;
}

let sequence = 0;
/** Above every hash of a person: these visitors have not been seen before. */
const visitorsFrom = 2 ** 52;

/** Writes clicks of the past, as a server does that could not reach the database for long. */
export async function writeLate(
  sql: Sql,
  stored: Stored,
  visits: readonly Visit[],
  { at, now }: { readonly at: number; readonly now: number },
): Promise<number> {
  const { createClickWriter } =
    await load<typeof import("../../src/clicks/events/writer.ts")>("clicks/events/writer.ts");
  const writer = createClickWriter({
    ...{ sql, secret: new Uint8Array(32).fill(7), writerId: `late-${++sequence}` },
    databaseTime: () => now,
  });
  const numbers = new Map<string, number>();
  const visitorOf = (name: string | undefined): number => {
    if (name === undefined) return 0;
    const number = numbers.get(name) ?? visitorsFrom + numbers.size;
    numbers.set(name, number);
    return number;
  };
  const clicked = new Map(
    [...stored.links].map(([code, numbers]) => [code, { ...numbers, domain: "", code, tags: [] as string[] }]),
  );
  const links = new Map(visits.map(({ link }) => [link.code, { ...clicked.get(link.code), tags: [link.tag] }]));
  const batch = batchOf(
    visits.map((visit) => ({
      link: links.get(visit.link.code) as never,
      at,
      reason: visit.person.reason,
      visitor: visitorOf(visit.person.visitor),
      facts: factsOf(visit),
    })),
  );
  return (await writer.write(1, batch)).late;
}
