import { describe, expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { comment, eventFrame, openEventStream, queuedBytesMost, queuedMost, type StreamEnd } from "./stream.ts";

function start() {
  const clock = manualClock(0);
  const silences: number[] = [];
  const ends: StreamEnd[] = [];
  const stream = openEventStream({
    clock,
    allowSilence: (seconds) => silences.push(seconds),
    onEnd: (end) => ends.push(end),
  });
  const reader = stream.body.getReader();
  const text = async () => new TextDecoder().decode((await reader.read()).value);
  return { clock, stream, reader, text, silences, ends };
}

async function rest(reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }): Promise<string> {
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += new TextDecoder().decode(value);
  }
}

const frame = (n: number) => eventFrame(String(n), "click", "{}");

describe("a stream of events", () => {
  test("gives events in order, also to a client that asked before they came", async () => {
    const { stream, text } = start();
    const first = text();
    stream.push(frame(1));
    expect(await first).toBe("id: 1\nevent: click\ndata: {}\n\n");
    stream.push(frame(2));
    stream.push(frame(3));
    expect(await text()).toBe("id: 2\nevent: click\ndata: {}\n\nid: 3\nevent: click\ndata: {}\n\n");
  });

  test("cuts a client that lets more than 200 events wait, and forgets them", async () => {
    const { stream, reader, ends, silences } = start();
    for (let n = 0; n < queuedMost; n++) stream.push(frame(n));
    expect(ends).toEqual([]);
    stream.push(frame(queuedMost));
    stream.push(frame(queuedMost + 1));
    expect(ends).toEqual(["cut"]);
    expect(silences).toEqual([0, 10]);
    expect(await rest(reader)).toBe(": cut: this client reads too slowly. Connect again to see new events.\n\n");
  });

  test("cuts a client that lets more than 256 KB wait", () => {
    const { stream, ends } = start();
    const large = eventFrame("1", "click", "x".repeat(4_000));
    const fit = Math.floor(queuedBytesMost / large.byteLength);
    for (let n = 0; n < fit; n++) stream.push(large);
    expect(ends).toEqual([]);
    stream.push(large);
    expect(ends).toEqual(["cut"]);
  });

  test("what the client takes makes room again", async () => {
    const { stream, text, ends } = start();
    for (let round = 0; round < 200; round++) {
      for (let n = 0; n < queuedMost; n++) stream.push(frame(n));
      expect(await text()).toStartWith("id: 0\n");
    }
    expect(ends).toEqual([]);
  });

  test("sends a heartbeat if nothing waits, and cuts a client that took nothing for 30 s", async () => {
    const { clock, stream, text, ends } = start();
    stream.beat();
    expect(await text()).toBe(": still here\n\n");
    stream.push(frame(1));
    clock.advance(29_999);
    stream.beat();
    expect(ends).toEqual([]);
    clock.advance(1);
    stream.beat();
    expect(ends).toEqual(["cut"]);
  });

  test("an end sends what waits, then why, once", async () => {
    const { stream, reader, ends } = start();
    stream.push(comment("one"));
    stream.end("because.");
    stream.end("again.");
    stream.push(comment("late"));
    expect(await rest(reader)).toBe(": one\n\n: because.\n\n");
    expect(ends).toEqual(["ended"]);
  });

  test("a client that leaves ends it, without a word", async () => {
    const { stream, reader, ends, silences } = start();
    void reader.read().catch(() => {});
    await reader.cancel();
    stream.push(frame(1));
    stream.end("late");
    expect(ends).toEqual(["left"]);
    expect(silences).toEqual([0]);
  });
});
