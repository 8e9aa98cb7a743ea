import { describe, expect, test } from "bun:test";
import type { MetricFigures } from "../base/metrics.ts";
import type { ToWorker } from "./messages.ts";
import { createExchange, type Exchange } from "./metrics-exchange.ts";

interface Peer {
  send(message: ToWorker): void;
}

const figuresOf = (name: string): MetricFigures => [{ name } as MetricFigures[number]];
const names = (all: readonly MetricFigures[]) => all.map(([first]) => first?.name);

/** Answers when asked, as often as configured. */
function peer(name: string, exchange: () => Exchange<Peer>, times = 1): Peer {
  const self: Peer = {
    send(message) {
      for (let n = 0; n < times; n++) exchange().told(self, message.id, figuresOf(name));
    },
  };
  return self;
}

describe("figures", () => {
  const patient = createExchange<Peer>(60_000);
  const of = (name: string, times?: number) => peer(name, () => patient, times);

  test("are gathered from all workers, without waiting longer than for the last one", async () => {
    expect(names(await patient.gather([of("a"), of("b")]))).toEqual(["a", "b"]);
    expect(await patient.gather([])).toEqual([]);
  });

  test("that arrive twice, or from a worker that was not asked, count once", async () => {
    const stranger = of("stranger");
    const meddling: Peer = {
      send(message) {
        patient.told(stranger, message.id, figuresOf("stranger"));
        patient.told(meddling, message.id, figuresOf("own"));
      },
    };
    expect(names(await patient.gather([of("a", 2), meddling]))).toEqual(["a", "own"]);
  });

  test("that do not arrive in time are left out, even if they arrive later", async () => {
    const hasty = createExchange<Peer>(1);
    const asked: ToWorker[] = [];
    const silent: Peer = { send: (message) => void asked.push(message) };
    expect(names(await hasty.gather([peer("a", () => hasty), silent]))).toEqual(["a"]);
    hasty.told(silent, asked[0]?.id ?? 0, figuresOf("late"));
    expect(names(await hasty.gather([peer("a", () => hasty)]))).toEqual(["a"]);
  });
});
