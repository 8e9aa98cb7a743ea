import type { Clock } from "./clock.ts";

/** The value of the header Date, which changes once a second and always has the same length. */
export interface DateHeader {
  readonly second: number;
  readonly text: string;
  readonly bytes: Uint8Array;
}

export function createDates(clock: Pick<Clock, "now">): () => DateHeader {
  let last = dateHeader(Math.floor(clock.now() / 1_000));
  return () => {
    const second = Math.floor(clock.now() / 1_000);
    if (second !== last.second) last = dateHeader(second);
    return last;
  };
}

function dateHeader(second: number): DateHeader {
  const text = new Date(second * 1_000).toUTCString();
  return { second, text, bytes: encoder.encode(text) };
}

const encoder = new TextEncoder();
