import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Metrics } from "../base/metrics.ts";
import type { ClickBatch } from "../clicks/click.ts";
import { type ClickRecorder, createClickRecorder } from "../clicks/events/click-recorder.ts";
import type { ClickWriter, Written } from "../clicks/events/writer.ts";
import type { Capture } from "../clicks/facts/capture.ts";
import type { Live } from "../clicks/live/live.ts";
import { databasePath } from "../core.ts";
import { endThread, idleThreadMs } from "./end-thread.ts";
import type { Wiring } from "./wiring.ts";

/**
 * Records captured clicks. On SQLite a thread with its own connection writes them, because a statement blocks its thread.
 * Its commits do not wait for the disk: safe through kill -9, not through a power cut. On PostgreSQL the connections are
 * those of everything but lookups; a batch takes about a tenth of a second.
 */
export type OpenClicks = Pick<ClickRecorder, "flush">;

export interface ClickParts {
  readonly capture: Pick<Capture, "drain" | "waiting" | "ready">;
  /** Sees every batch once, before it is written. */
  readonly live: Pick<Live, "offer" | "wanted">;
  /** Called with what was stored: links with a first click, for notices. */
  readonly onWritten?: (written: Written) => void;
}

export function openClicks(wiring: Wiring, { capture, live, onWritten = () => {} }: ClickParts): OpenClicks {
  const { core, metrics, log, opened } = wiring;
  const { config, clock, sql } = core;
  const writerId = randomBytes(12).toString("base64url");
  const secret = core.secretFor("visitors of clicks");
  const given = { secret, writerId, eventsPerSecond: config.QL_CLICK_EVENTS_PER_SECOND };
  const thread = config.embedded ? startClicksThread({ path: databasePath(config), ...given }, clock) : undefined;
  // On SQLite the thread has the writer, and not the server.
  let loading: Promise<ClickWriter> | undefined;
  const write: ClickWriter["write"] =
    thread?.write ??
    (async (...batch) => {
      loading ??= import("../clicks/events/writer.ts").then(({ createClickWriter }) =>
        createClickWriter({ sql, clock, ...given }),
      );
      return await (await loading).write(...batch);
    });
  const count = countClicks(metrics);
  const recorder = createClickRecorder({
    capture: shownBy(live, capture),
    isWatched: () => live.wanted,
    write,
    onWritten(written) {
      count(written);
      onWritten(written);
    },
    clock,
    log,
  });
  metrics.gauge(
    "quicklink_clicks_failing",
    "1 while clicks cannot be recorded and are kept in memory.",
    () => Number(recorder.failing),
    "max",
  );
  opened.defer(async () => {
    await recorder.stop();
    await thread?.close();
  });
  return recorder;
}

/** A batch that is written again is not shown again. */
const shownBy = (live: ClickParts["live"], capture: ClickParts["capture"]): ClickParts["capture"] => ({
  drain(most) {
    const batch = capture.drain(most);
    if (batch !== undefined) live.offer(batch);
    return batch;
  },
  get waiting() {
    return capture.waiting;
  },
  ready: capture.ready,
});

function countClicks(metrics: Metrics): (written: Written) => void {
  const recorded = metrics.tally(
    "quicklink_clicks_recorded_total",
    "Clicks by what was recorded: an event, a count in overflow, a declared drop, or a visit that excluded itself.",
    "as",
    ["event", "overflow", "dropped", "excluded"],
  );
  const unusual = metrics.tally(
    "quicklink_clicks_unusual_total",
    "Clicks that came late, too late to recognise their visitor, after too many visitors, or with a time that was corrected.",
    "kind",
    ["late", "too_late", "unrecognised", "corrected"],
  );
  return ({ events, overflow, dropped, excluded, late, tooLate, unrecognised, corrected }) => {
    recorded.event += events;
    recorded.overflow += overflow;
    recorded.dropped += dropped;
    recorded.excluded += excluded;
    unusual.late += late;
    unusual.too_late += tooLate;
    unusual.unrecognised += unrecognised;
    unusual.corrected += corrected;
  };
}

export interface ThreadSettings {
  readonly path: string;
  readonly secret: Uint8Array;
  readonly writerId: string;
  readonly eventsPerSecond: number;
}

/** If the thread dies, the same batch goes to the next one: so its columns are shared, and not transferred. */
export type ToClicksThread =
  | ({ readonly kind: "open" } & ThreadSettings)
  | { readonly kind: "write"; readonly sequence: number; readonly batch: SentBatch }
  | { readonly kind: "close" };

/** Its lists as JSON: with 1,000 links that takes the serving thread 1.3 ms, and copying the objects 3.8. */
export type SentBatch = Omit<ClickBatch, keyof BatchLists> & { readonly lists: string };
export type BatchLists = Pick<ClickBatch, "texts" | "links" | "bare">;

function toSent({ texts, links, bare, ...columns }: ClickBatch): SentBatch {
  return { ...columns, lists: JSON.stringify({ texts, links, bare } satisfies BatchLists) };
}

export type FromClicksThread =
  | { readonly kind: "written"; readonly sequence: number; readonly written: Written }
  | { readonly kind: "failed"; readonly sequence: number; readonly message: string }
  | { readonly kind: "closed" };

interface ClicksThread {
  write(sequence: number, batch: ClickBatch): Promise<Written>;
  close(): Promise<void>;
}

function startClicksThread(settings: ThreadSettings, clock: Clock): ClicksThread {
  let worker: Worker | undefined;
  let waiting: { readonly sequence: number; readonly answer: PromiseWithResolvers<Written> } | undefined;
  let ending: Promise<void> | undefined;
  let notIdle = () => {};

  function start(): Worker {
    const started = new Worker(new URL("./clicks-thread.ts", import.meta.url).href);
    started.onmessage = ({ data: message }: MessageEvent<FromClicksThread>) => {
      if (message.kind === "closed" || message.sequence !== waiting?.sequence) return;
      const { answer } = waiting;
      waiting = undefined;
      if (worker === started) notIdle = clock.after(idleThreadMs, end);
      if (message.kind === "written") answer.resolve(message.written);
      else answer.reject(new Error(message.message));
    };
    started.onerror = (event) => {
      if (worker !== started) return; // it had nothing to do any more
      worker = undefined;
      waiting?.answer.reject(new Error(`the thread of clicks ended: ${event.message}`));
      waiting = undefined;
    };
    started.postMessage({ kind: "open", ...settings } satisfies ToClicksThread);
    return started;
  }

  function end(): void {
    if (worker === undefined) return;
    ending = endThread(worker);
    worker = undefined;
  }

  return {
    write(sequence, batch) {
      notIdle();
      worker ??= start();
      // The recorder sends the next one only when this one has ended, or was given up: its answer is then for nobody.
      const answer = Promise.withResolvers<Written>();
      waiting = { sequence, answer };
      worker.postMessage({ kind: "write", sequence, batch: toSent(batch) } satisfies ToClicksThread);
      return answer.promise;
    },
    async close() {
      notIdle();
      end();
      await ending;
    },
  };
}
