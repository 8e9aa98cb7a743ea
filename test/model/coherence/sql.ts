/**
 * A database as PostgreSQL is to us: rows with versions, and a feed in the order of transactions, which is not the order
 * of commits. A change takes its place in the feed when it begins and is seen when it commits; changes of one row wait
 * for each other. What is read is what was there when the question arrived, and may be answered much later.
 */

import type { Versioned } from "../../../src/cache/cache.ts";
import type { Change, Feed } from "../../../src/cache/feed.ts";
import { linkChange } from "../../ground/changes.ts";
import { long, type Steps } from "./steps.ts";

export interface Thing {
  readonly name: string;
}

export interface Place {
  readonly at: number;
}

export interface ModelSql {
  readonly feed: Feed<Place>;
  newest(code: string): Versioned<Thing>;
  load(code: string): Promise<Versioned<Thing>>;
  /** To something, or to nothing; returns what to announce. */
  change(code: string, something: boolean): Promise<Change>;
}

const none: Versioned<Thing> = { version: 0, value: undefined };
const digits = 6;

export function createModelSql({ step, several, fate }: Steps): ModelSql {
  const rows = new Map<string, Versioned<Thing>>();
  const committed: (Change & Place)[] = [];
  const running = new Set<number>();
  const locks = new Map<string, Promise<unknown>>();
  let last = 0;

  const newest = (code: string) => rows.get(code) ?? none;

  async function ask<Result>(what: string, read: () => Result): Promise<Result> {
    const becomes = fate();
    await step(`SQL gets ${what}`);
    if (becomes === "sql-away") throw new Error("SQL is away");
    const result = read();
    if (becomes === "sql-slow") await several(`SQL is slow with ${what}`, long);
    await step(`SQL answers ${what}`);
    return result;
  }

  async function commit(code: string, something: boolean): Promise<Change> {
    await step(`SQL begins to change ${code}`);
    const at = ++last;
    running.add(at);
    await step(`SQL commits ${code}`);
    running.delete(at);
    const version = newest(code).version + 1;
    rows.set(code, { version, value: something ? { name: `${code} ${version}` } : undefined });
    const change = linkChange(code, version);
    committed.push({ ...change, at });
    return change;
  }

  return {
    newest,
    load: (code) => ask(code, () => newest(code)),

    change(code, something) {
      const changed = (locks.get(code) ?? Promise.resolve()).then(() => commit(code, something));
      locks.set(code, changed);
      return changed;
    },

    feed: {
      toText: ({ at }) => String(at).padStart(digits, "0"),
      fromText: (text) => ({ at: Number(text) }),
      end: () => ask("the end of the feed", () => ({ at: Math.min(last + 1, ...running) - 1 })),
      after: ({ at }, limit) =>
        ask("the feed", () => {
          const oldest = Math.min(last + 1, ...running);
          const ahead = committed.filter((change) => change.at > at).toSorted((a, b) => a.at - b.at);
          const changes = ahead.slice(0, limit);
          const finalCount = changes.filter((change) => change.at < oldest).length;
          const lastFinal = changes[finalCount - 1];
          return {
            changes,
            next: { at: changes.at(-1)?.at ?? at },
            finalUntil: lastFinal && { at: lastFinal.at },
            finalCount,
          };
        }),
    },
  };
}
