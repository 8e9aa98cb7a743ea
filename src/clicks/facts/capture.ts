import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { ClickTarget, LinkKey } from "../../links/link.ts";
import { type ClickBatch, dimensions } from "../click.ts";
import { createBareCounts } from "./bare-counts.ts";
import { type ClickColumns, type Columns, createColumns } from "./columns.ts";
import type { ReadFacts, SeenVisit } from "./facts.ts";

/**
 * Takes clicks from the redirect path, and gives them to the writer with their facts.
 *
 * 1. The redirect calls `record`, which keeps references to what Bun knows only during the request. It reads no header.
 * 2. Some milliseconds later `convert` turns references into facts, through memos, and these into columns. Until then the
 *    request's headers stay in memory, so this must not take long. Not at the next turn of the event loop, either: a
 *    pending turn should keep it from waiting for requests. The machine was too busy to measure which is cheaper.
 * 3. The writer drains the columns, once a second.
 *
 * Everything between is bounded, whatever the traffic. Facts are dropped before counts: a click without room for its
 * facts is counted under its link (`bare`), and one without room for that under `dropped`. A visit with the cookie of
 * `/clicks/exclude` is only counted (`excluded`). So each recorded click is in exactly one place.
 */
export interface Capture {
  /** Called on the redirect path: keeps references, computes nothing. `url`: the destination, before parameters are forwarded. */
  record(request: Request, key: LinkKey, link: ClickTarget, reason: number, variant: string, url: string): void;
  /**
   * The next clicks with their facts, oldest first, at most `most`; undefined if there are none. Called off the path until
   * there are none: one call returns at most `sliceMost` clicks, so that it never blocks for more than a few ms.
   */
  drain(most: number): ClickBatch | undefined;
  /** Clicks not drained yet. */
  readonly waiting: number;
}

export interface CaptureSettings {
  readonly readFacts: ReadFacts;
  /** What the request tells only while it is answered. */
  readonly visitOf: (request: Request) => SeenVisit;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Calls back some milliseconds later. */
  readonly soon?: (work: () => void) => void;
  readonly bytesMost?: number;
}

export const sliceMost = 2_000;
/** Of one process. 200,000 clicks with usual facts: a writer that cannot write has about 10 s at full speed. */
const bytesMost = 24 * 1_048_576;
/** At full speed some 300 clicks come in this time. */
const soonMs = 10;
const inSomeMs = (work: () => void): void => void setTimeout(work, soonMs);
/** Their headers are still in memory, at most 16 KB each: 32 MB if somebody sends nothing else. */
const unreadMost = 2_000;
/** How long the event loop is kept from requests at a time. */
const readMs = 4;
const clockEvery = 32;
const columnBytes = sliceMost * (8 + 4 + 1 + 8 + 4 * dimensions.length);

interface UnreadClick {
  readonly at: number;
  readonly key: LinkKey;
  readonly link: ClickTarget;
  readonly reason: number;
  readonly variant: string;
  readonly url: string;
  readonly visit: SeenVisit;
}

export function createCapture(settings: CaptureSettings): Capture {
  const { readFacts, visitOf, clock, metrics, soon = inSomeMs } = settings;
  const most = settings.bytesMost ?? bytesMost;
  const count = metrics.tally("quicklink_clicks_captured_total", "Clicks by what is kept of them.", "kept", kinds);
  metrics.gauge("quicklink_clicks_waiting", "Clicks that wait for being written.", () => capture.waiting);
  const bare = createBareCounts();
  let unread: UnreadClick[] = [];
  let scheduled = false;
  const closed: Columns[] = [];
  let closedBytes = 0;
  let open: Columns | undefined;
  let [dropped, excluded] = [0, 0];

  function countBare(at: number, key: LinkKey, link: ClickTarget, reason: number): void {
    if (bare.add(at, key, link, reason)) {
      count.bare++;
    } else {
      dropped++;
      count.dropped++;
    }
  }

  function read({ at, key, link, reason, variant, url, visit }: UnreadClick): void {
    const known = readFacts(visit, key, link, variant, url);
    if (known === "excluded") {
      excluded++;
      count.excluded++;
      return;
    }
    if (closedBytes + columnBytes + (open?.tableBytes ?? 0) > most) {
      countBare(at, key, link, reason);
      return;
    }
    open ??= createColumns(sliceMost);
    open.add({ at, key, link, reason, visitor: known.visitor }, known.facts);
    count.facts++;
    if (!open.isFull) return;
    closed.push(open);
    closedBytes += sizeOf(open);
    open = undefined;
  }

  /** Reads clicks for some milliseconds. */
  function readSome(): void {
    if (unread.length === 0) return;
    const start = clock.elapsed();
    let done = 0;
    for (const click of unread) {
      read(click);
      done++;
      if (done % clockEvery === 0 && clock.elapsed() - start > readMs) break;
    }
    unread = done === unread.length ? [] : unread.slice(done);
  }

  function convert(): void {
    readSome();
    scheduled = unread.length > 0;
    if (scheduled) soon(convert);
  }

  function takeColumns(limit: number): ClickColumns | undefined {
    const [first] = closed;
    const oldest = first ?? open;
    const taken = oldest?.take(limit);
    if (oldest?.waiting !== 0) return taken;
    if (oldest === first) {
      closed.shift();
      closedBytes -= sizeOf(oldest);
    } else {
      open = undefined;
    }
    return taken;
  }

  const capture: Capture = {
    record(request, key, link, reason, variant, url) {
      // The loop has not come to it for a while, and then had a burst: this visitor waits for some of the others.
      if (unread.length >= unreadMost) readSome();
      unread.push({ at: clock.now(), key, link, reason, variant, url, visit: visitOf(request) });
      if (scheduled) return;
      scheduled = true;
      soon(convert);
    },

    drain(limit) {
      // A server that stops must not wait for another turn of the loop.
      readSome();
      const columns = takeColumns(limit);
      const counts = columns === undefined ? bare.take() : undefined;
      if (columns === undefined && counts === undefined && dropped === 0 && excluded === 0) return undefined;
      const batch = { ...(columns ?? noClicks), ...(counts ?? { bare: [] }), dropped, excluded };
      [dropped, excluded] = [0, 0];
      return batch;
    },

    get waiting() {
      const columns = closed.reduce((sum, { waiting }) => sum + waiting, open?.waiting ?? 0);
      return unread.length + columns + bare.waiting;
    },
  };
  return capture;
}

const sizeOf = ({ tableBytes }: Columns): number => columnBytes + tableBytes;
const noClicks: ClickColumns = createColumns(0).take(0);
const kinds = ["facts", "bare", "dropped", "excluded"] as const;
