import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { LinkKey } from "../../links/link.ts";
import type { VisitRequest } from "../../redirect/visit-request.ts";
import type { ClickBatch } from "../click.ts";
import { createBareCounts } from "./bare-counts.ts";
import { type ClickColumns, type Columns, createColumns, type RecordedLink } from "./columns.ts";
import type { ReadFacts, SeenVisit } from "./facts.ts";

/**
 * Takes clicks from the redirect path, and gives them to the writer with their facts.
 *
 * 1. The redirect calls `record`, which turns headers into facts, through memos, and these into columns: some numbers.
 * 2. The writer drains the columns, once a second.
 *
 * Facts are read at once, which takes about 2 µs. Keeping references and reading them 10 ms later took 3 µs more: a request's
 * headers that outlive it must be collected, and the memory for them comes from the kernel again and again.
 *
 * The first clicks of a process wait until the tables that their facts need are loaded (`ready`). Beyond 2,000 of them they are
 * read without.
 *
 * Everything between is bounded, whatever the traffic. Facts are dropped before counts: a click without room for its
 * facts is counted under its link (`bare`), and one without room for that under `dropped`. A visit with the cookie of
 * `/clicks/exclude` is only counted (`excluded`). So each recorded click is in exactly one place.
 */
export interface Capture {
  /** Called on the redirect path. `url`: where the visitor is sent, before parameters are forwarded. */
  record(request: VisitRequest, key: LinkKey, link: RecordedLink, reason: number, variant: string, url: string): void;
  /**
   * The next clicks with their facts, oldest first, at most `most`; if there are none, or `most` is 0, what was counted without facts;
   * undefined if there is nothing. Called off the path: one call returns at most `sliceMost` clicks, so that it never blocks for more
   * than a few ms.
   */
  drain(most: number): ClickBatch | undefined;
  /** Clicks not drained yet. */
  readonly waiting: number;
  /** Before, few or no clicks can be drained. */
  readonly ready: Promise<void>;
}

export interface CaptureSettings {
  readonly readFacts: ReadFacts;
  /** What the request tells only while it is answered; `facts`: whether the link wants them. */
  readonly visitOf: (request: VisitRequest, facts: boolean) => SeenVisit;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Calls back some milliseconds later. */
  readonly soon?: (work: () => void) => void;
  readonly bytesMost?: number;
  /** Resolves when facts can be read, after some seconds at most. */
  readonly ready?: Promise<void>;
}

/** Clicks of a link in one slice share its row of totals: the more in a slice, the less each of them costs. */
export const sliceMost = 30_000;
/** Of one process. 200,000 clicks with usual facts: a writer that cannot write has about 10 s at full speed. */
const bytesMost = 24 * 1_048_576;
const soonMs = 10;
const inSomeMs = (work: () => void): void => void setTimeout(work, soonMs);
/** Their headers are still in memory, at most 16 KB each: 32 MB if somebody sends nothing else. */
const unreadMost = 2_000;
/** How long the event loop is kept from requests at a time. */
const readMs = 4;
const clockEvery = 32;

interface UnreadClick {
  readonly at: number;
  readonly key: LinkKey;
  readonly link: RecordedLink;
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
  let isReady = settings.ready === undefined;
  const closed: Columns[] = [];
  let closedBytes = 0;
  let open: Columns | undefined;
  let [dropped, excluded] = [0, 0];

  function countBare(at: number, key: LinkKey, link: RecordedLink, reason: number): void {
    if (bare.add(at, key, link, reason)) {
      count.bare++;
    } else {
      dropped++;
      count.dropped++;
    }
  }

  function read(
    at: number,
    key: LinkKey,
    link: RecordedLink,
    reason: number,
    variant: string,
    url: string,
    visit: SeenVisit,
  ): void {
    const known = readFacts(visit, key, link, variant, url);
    if (known === "excluded") {
      excluded++;
      count.excluded++;
      return;
    }
    if (closedBytes + (open?.bytes ?? 0) >= most) {
      countBare(at, key, link, reason);
      return;
    }
    open ??= createColumns(sliceMost);
    open.add(at, key, link, reason, known.visitor, known.facts);
    count.facts++;
    if (!open.isFull) return;
    closed.push(open);
    closedBytes += open.bytes;
    open = undefined;
  }

  /** Reads the clicks of before `ready`, for some milliseconds. */
  function readSome(): void {
    if (unread.length === 0) return;
    const start = clock.elapsed();
    let done = 0;
    for (const { at, key, link, reason, variant, url, visit } of unread) {
      read(at, key, link, reason, variant, url, visit);
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

  function schedule(): void {
    if (scheduled || !isReady) return;
    scheduled = true;
    soon(convert);
  }

  function takeColumns(limit: number): ClickColumns | undefined {
    const [first] = closed;
    const oldest = first ?? open;
    const taken = oldest?.take(limit);
    if (oldest?.waiting !== 0) return taken;
    if (oldest === first) {
      closed.shift();
      closedBytes -= oldest.bytes;
    } else {
      open = undefined;
    }
    return taken;
  }

  const capture: Capture = {
    record(request, key, link, reason, variant, url) {
      if (isReady && unread.length === 0) {
        read(clock.now(), key, link, reason, variant, url, visitOf(request, link.facts));
        return;
      }
      if (unread.length >= unreadMost) readSome();
      unread.push({ at: clock.now(), key, link, reason, variant, url, visit: visitOf(request, link.facts) });
      schedule();
    },

    drain(limit) {
      // A server that stops must not wait for another turn of the loop.
      if (isReady) readSome();
      const columns = limit > 0 ? takeColumns(limit) : undefined;
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

    ready: (settings.ready ?? Promise.resolve()).then(() => {
      isReady = true;
      if (unread.length > 0) schedule();
    }),
  };
  return capture;
}

const noClicks: ClickColumns = createColumns(0).take(0);
const kinds = ["facts", "bare", "dropped", "excluded"] as const;
