/** Batches of clicks, and readers of live clicks. */
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { KeyId, TenantId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { createShares } from "../../src/base/shares.ts";
import { type ClickBatch, dimensions } from "../../src/clicks/click.ts";
import { createLive, type Live } from "../../src/clicks/live/live.ts";
import { type RelayChannels, startRelay } from "../../src/clicks/live/relay.ts";
import type { LinkNumber, TenantNumber } from "../../src/sql/schema.ts";

export const [mine, others] = [-1 as TenantNumber, -2 as TenantNumber];

/** Two tenants with the same codes: the first two links are mine. */
const links = [mine, others].flatMap((tenant, i) =>
  ["a", "b"].map((code, j) => ({ link: (i * 2 + j + 1) as LinkNumber, tenant, domain: "", code, tags: [] })),
);
const texts = ["", "DE", "Berlin", "…"];

/** One click on each of these links: 0 and 1 are mine, 2 and 3 the others'. */
export function batchOf(clicked: readonly number[], bare: ClickBatch["bare"] = []): ClickBatch {
  const facts = clicked.flatMap(() => dimensions.map((name) => ["country", "city", "referrer"].indexOf(name) + 1));
  return {
    texts,
    links,
    at: Float64Array.from(clicked, (_, i) => i),
    link: Uint16Array.from(clicked),
    reason: new Uint8Array(clicked.length),
    visitor: new Float64Array(clicked.length),
    facts: Uint16Array.from(facts),
    bare,
    dropped: 0,
    excluded: 0,
  };
}

export type LiveOptions = {
  clock?: Clock;
  channels?: RelayChannels;
  isAllowed?: (key: KeyId) => boolean;
  places?: number;
};

const log = createLog("silent", { write() {} }, false, () => 0);
let processes = 0;

/** As one process has it. */
export function startLive({ clock = systemClock, channels, isAllowed = () => true, places = 200 }: LiveOptions = {}) {
  const id = `p${++processes}`;
  const count = { ended: { left: 0, cut: 0, ended: 0 }, sent: { sent: 0, failed: 0 } };
  const live = createLive({
    id,
    places: createShares({
      ...{ resource: "streams", what: "live streams", atOnce: places },
      ...{ waitingMost: 0, waitMs: 0, retryAfterSeconds: 30 },
    }),
    relay: channels && ((on) => startRelay({ id, channels, clock, log, ...on })),
    isAllowed: async (_, { id }) => isAllowed(id as KeyId),
    hostOf: (domain) => (domain === "" ? "go.example.com" : domain),
    count,
    clock,
    log,
  });
  return { live, count };
}

export type LiveReader = {
  text(): string;
  /** The data of all events of this kind so far. */
  events(kind: string): Record<string, unknown>[];
  isOver(): boolean;
  leave(): Promise<void>;
};

/** Reads everything that comes. */
export function readEvents(body: ReadableStream<Uint8Array>): LiveReader {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let [text, isOver] = ["", false];
  void (async () => {
    for (;;) {
      const part = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (part.done) break;
      text += decoder.decode(part.value, { stream: true });
    }
    isOver = true;
  })();
  return {
    text: () => text,
    events: (kind) =>
      [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)]
        .filter(([, found]) => found === kind)
        .map(([, , data = ""]) => JSON.parse(data)),
    isOver: () => isOver,
    leave: () => reader.cancel(),
  };
}

export async function watchLive(live: Live, number: TenantNumber = mine, key = "key_1"): Promise<LiveReader> {
  const body = await live.open({
    number,
    tenant: `ten_${number}` as TenantId,
    caller: { kind: "key", id: key as KeyId },
    lastsMs: 3_600_000,
    allowSilence() {},
    signal: new AbortController().signal,
  });
  return readEvents(body);
}

export const codesOf = (events: readonly Record<string, unknown>[]): string[] =>
  events.map(({ link }) => (link as { code: string }).code);
