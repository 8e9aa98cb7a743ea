/**
 * What visitors request, in a fixed mixture, and the expected destination.
 *
 * hot: always in the memory of both servers. warm: in Redis, but not in the memory of the server that is asked, because
 * only the other one was asked before. cold: never requested. missing: there is no such link. Half of all visits go to
 * links with a limit: hits of a hot link come from a lease, those of the others need one first. Warm and cold links are
 * requested once, so there must be many.
 */
import { createLine } from "../../bench/line.ts";

export const kinds = ["hot", "hot_limited", "warm", "warm_limited", "cold", "cold_limited", "missing"] as const;
export type Kind = (typeof kinds)[number];

export interface Target {
  readonly code: string;
  readonly url: string;
}

export interface Question {
  readonly kind: Kind;
  readonly code: string;
  /** Nothing: it leads nowhere. */
  readonly url: string | undefined;
  readonly port: number;
}

export interface Questions {
  /** From now on they go to these two servers. */
  askAt(ports: readonly [number, number]): void;
  /** `hotLinks`: how many of the hot ones are asked for. */
  next(hotLinks?: number): Question;
  /** Links that were never requested; they are then the caller's. */
  take(count: number): Target[];
  /** Has the hot ones in both memories; and others in Redis by asking one server, for the other to be asked later. */
  warmUp(): Promise<void>;
  /** These are in Redis; the second server is to be asked for them. */
  addWarm(links: readonly Target[]): void;
}

/** Links of one sort, with a limit or without. */
interface Pool {
  readonly stock: Target[];
  readonly hot: readonly Target[];
  /** By the server that is to be asked for them. */
  readonly warm: readonly [Target[], Target[]];
  visits: number;
}

export const hotCount = 20;
const warmEach = 60;
const triesMost = 10;
const shares: Readonly<Record<Kind, number>> = {
  ...{ hot: 15, warm: 1, cold: 1 },
  ...{ hot_limited: 16, warm_limited: 2, cold_limited: 2 },
  missing: 3,
};
/** Each kind spread evenly over the whole. */
const mixture: readonly Kind[] = kinds
  .flatMap((kind) => Array.from({ length: shares[kind] }, (_, i) => ({ kind, at: (i + 0.5) / shares[kind] })))
  .toSorted((one, other) => one.at - other.at)
  .map(({ kind }) => kind);

export const isLimited = (kind: Kind): boolean => kind.endsWith("_limited");

export function createQuestions(plain: Target[], limited: Target[]): Questions {
  const poolOf = (stock: Target[]): Pool => ({ stock, hot: stock.splice(0, hotCount), warm: [[], []], visits: 0 });
  const pools = { plain: poolOf(plain), limited: poolOf(limited) };
  let ports: readonly [number, number] = [0, 0];
  let asked = 0;
  let missing = 0;

  return {
    askAt(both) {
      ports = both;
    },

    next(hotLinks = hotCount) {
      const round = Math.floor(asked / mixture.length);
      const kind = mixture[asked % mixture.length] ?? "hot";
      const server = (asked++ + round) % 2 === 0 ? 0 : 1;
      const port = ports[server];
      if (kind === "missing") return { kind, code: `none-${Math.floor(missing++ / 2)}`, url: undefined, port };
      const pool = isLimited(kind) ? pools.limited : pools.plain;
      const once = kind.startsWith("warm") ? pool.warm[server] : kind.startsWith("cold") ? pool.stock : [];
      const target = once.shift();
      if (target !== undefined) return { kind, ...target, port };
      // Also when those that are asked for once are used up.
      const hot = pool.hot[pool.visits++ % hotLinks] as Target;
      return { kind: isLimited(kind) ? "hot_limited" : "hot", ...hot, port };
    },

    take(count) {
      return pools.plain.stock.splice(-count);
    },

    async warmUp() {
      await Promise.all(
        ([0, 1] as const).map(async (server) => {
          const line = createLine();
          const other = ports[server === 0 ? 1 : 0];
          const led = async ({ code }: Target) => (await line.ask(other, `/${code}`)) === 302;
          for (const { stock, hot, warm } of [pools.plain, pools.limited]) {
            for (const link of hot) for (let tries = 0; tries < triesMost && !(await led(link)); tries++);
            const links = warm[server];
            links.length = 0; // Redis may have lost those of the last time
            while (links.length < warmEach) {
              const link = stock.shift();
              if (link === undefined) throw new Error("no links are left to warm");
              if (await led(link)) links.push(link);
            }
          }
          line.hangUp();
        }),
      );
    },

    addWarm(links) {
      pools.plain.warm[1].unshift(...links);
    },
  };
}
