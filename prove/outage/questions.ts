/**
 * What visitors ask for, in a fixed mixture, and where it leads.
 *
 * hot: in the memory of both servers, all the time. warm: in Redis, but not in the memory of the server that is asked,
 * because only the other one was asked before. cold: never asked for. limited: hot, with a limit on its hits. missing:
 * there is no such link. Warm and cold links are asked for once, so there must be many.
 */
import { createLine } from "../../bench/line.ts";

export const kinds = ["hot", "warm", "cold", "limited", "missing"] as const;
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
  /** Links that nobody asked for yet; they are then the caller's. */
  take(count: number): Target[];
  /** Has the hot ones in both memories; and others in Redis by asking one server, for the other to be asked later. */
  warmUp(): Promise<void>;
  /** These are in Redis; the second server is to be asked for them. */
  addWarm(links: readonly Target[]): void;
}

export const hotCount = 20;
const warmEach = 60;
const triesMost = 10;
const mixture: readonly Kind[] = [
  ...new Array<Kind>(15).fill("hot"),
  ...(["warm", "cold", "limited", "missing", "missing"] as const),
];

export function createQuestions(stock: Target[], limited: Target): Questions {
  const hot = stock.splice(0, hotCount);
  const warm: [Target[], Target[]] = [[], []];
  let ports: readonly [number, number] = [0, 0];
  let asked = 0;
  let visits = 0;
  let missing = 0;

  /** Nothing for a hot one, and when those that are asked for once are used up. */
  function pick(kind: Kind, server: 0 | 1): Target | undefined {
    if (kind === "warm") return warm[server].shift();
    if (kind === "cold") return stock.shift();
    return kind === "limited" ? limited : undefined;
  }

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
      const target = pick(kind, server);
      if (target !== undefined) return { kind, ...target, port };
      return { kind: "hot", ...(hot[visits++ % hotLinks] as Target), port };
    },

    take(count) {
      return stock.splice(-count);
    },

    async warmUp() {
      await Promise.all(
        warm.map(async (links, server) => {
          const line = createLine();
          const other = ports[server === 0 ? 1 : 0];
          const led = async ({ code }: Target) => (await line.ask(other, `/${code}`)) === 302;
          for (const link of hot) for (let tries = 0; tries < triesMost && !(await led(link)); tries++);
          links.length = 0; // Redis may have lost those of the last time
          while (links.length < warmEach) {
            const link = stock.shift();
            if (link === undefined) throw new Error("no links are left to warm");
            if (await led(link)) links.push(link);
          }
          line.hangUp();
        }),
      );
    },

    addWarm(links) {
      warm[1].unshift(...links);
    },
  };
}
