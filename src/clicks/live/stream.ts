import type { Clock } from "../../base/clock.ts";

/**
 * One open response of server-sent events. Events wait in a queue until the socket takes them: the body gives out
 * something only when it is asked, so what waits here is what the client, the kernel and the runtime have not taken.
 *
 * A client that reads too slowly is cut: the queue is full, or its oldest event waits for too long. Nothing waits for a
 * client, neither the others nor the server. It can connect again, and misses what was shown meanwhile.
 */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Never waits. Cuts the connection if there is no room. */
  push(frame: Uint8Array): void;
  /** Shows proxies and the client that the connection lives. Cuts it if it does not. */
  beat(): void;
  /** Sends what waits and a last comment that says why, and ends. The client has some seconds to take it. */
  end(why: string, seconds?: number): void;
  /** The client has left. */
  leave(): void;
}

export type StreamEnd = "left" | "cut" | "ended";

export interface EventStreamSettings {
  readonly clock: Clock;
  /** How many seconds the connection may be silent; 0 for any number. */
  readonly allowSilence: (seconds: number) => void;
  /** Called once. */
  readonly onEnd: (end: StreamEnd) => void;
}

/** Four seconds of the busiest stream, besides the megabytes that the kernel holds for a connection. */
export const queuedMost = 200;
export const queuedBytesMost = 262_144;
const stalledMs = 30_000;
/** What is handed over at a time, and so is out of our hands. */
const chunkBytes = 65_536;
/** How long a client has to take the rest of an ended stream. */
const lastSeconds = 10;

export function openEventStream({ clock, allowSilence, onEnd }: EventStreamSettings): EventStream {
  let queue: { readonly frame: Uint8Array; readonly at: number }[] = [];
  let queuedBytes = 0;
  let isOpen = true;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let asked: (() => void) | undefined;

  function add(frame: Uint8Array): void {
    queue.push({ frame, at: clock.elapsed() });
    queuedBytes += frame.byteLength;
    give();
  }

  /** Hands over what waits, if the socket asked for it. */
  function give(): void {
    if (asked === undefined || (queue.length === 0 && isOpen)) return;
    let [count, bytes] = [0, 0];
    for (const { frame } of queue) {
      if (count > 0 && bytes + frame.byteLength > chunkBytes) break;
      count++;
      bytes += frame.byteLength;
    }
    const frames = queue.slice(0, count).map(({ frame }) => frame);
    queue = queue.slice(count);
    queuedBytes -= bytes;
    if (count > 0) controller?.enqueue(Buffer.concat(frames, bytes));
    if (!isOpen && queue.length === 0) controller?.close();
    const answered = asked;
    asked = undefined;
    answered();
  }

  function finish(end: StreamEnd, why: string, seconds = lastSeconds): void {
    if (!isOpen) return;
    isOpen = false;
    if (end === "cut") {
      queue = [];
      queuedBytes = 0;
    }
    // Before the end: afterwards the runtime no longer knows the request, and a client that takes nothing would stay.
    if (end !== "left") allowSilence(seconds);
    add(comment(why));
    onEnd(end);
  }

  allowSilence(0);
  return {
    body: new ReadableStream<Uint8Array>(
      {
        start(given) {
          controller = given;
        },
        pull() {
          return new Promise<void>((resolve) => {
            asked = resolve;
            give();
          });
        },
        cancel() {
          asked?.();
          asked = undefined;
          controller = undefined;
          finish("left", "");
        },
      },
      { highWaterMark: 0 },
    ),
    push(frame) {
      if (!isOpen) return;
      if (queue.length >= queuedMost || queuedBytes + frame.byteLength > queuedBytesMost) finish("cut", tooSlow);
      else add(frame);
    },
    beat() {
      if (!isOpen) return;
      const [oldest] = queue;
      if (oldest === undefined) add(heartbeat);
      else if (clock.elapsed() - oldest.at >= stalledMs) finish("cut", tooSlow);
    },
    leave: () => finish("left", ""),
    end: (why, seconds) => finish("ended", why, seconds),
  };
}

const tooSlow = "cut: this client reads too slowly. Connect again to see new events.";
const encoder = new TextEncoder();

/** A line that clients ignore. */
export const comment = (text: string): Uint8Array => encoder.encode(`: ${text}\n\n`);
const heartbeat = comment("still here");

/** `data` is one line. */
export const eventFrame = (id: string, kind: string, data: string): Uint8Array =>
  encoder.encode(`id: ${id}\nevent: ${kind}\ndata: ${data}\n\n`);

/** How long a client waits before it connects again. Half of it would double the calls after a restart. */
export const opening = (reconnectMs: number): Uint8Array => encoder.encode(`retry: ${reconnectMs}\n\n`);
