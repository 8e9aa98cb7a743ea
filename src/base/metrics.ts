import type { Histogram, MetricObjectWithValues, MetricValue, Registry } from "prom-client";

/**
 * What we count, for Prometheus. The redirect path must not pay for labels and hashing, so it adds to plain numbers
 * (`tally`), which are read only when somebody scrapes. prom-client itself is loaded when it is first needed: the
 * first redirect after a start need not wait for it.
 */
export interface Metrics {
  histogram(name: string, help: string, labels: readonly string[], buckets: number[]): Promise<Histogram>;
  /** With workers, what they each read is added up, or the largest is taken. */
  gauge(name: string, help: string, read: () => number, merged?: "sum" | "max"): void;
  /** A counter whose series are fields of one plain object: add with `fields.x++`. */
  tally<Field extends string>(
    name: string,
    help: string,
    label: string,
    fields: readonly Field[],
  ): Record<Field, number>;
  /** Ours alone, to be sent to another process that is scraped. */
  figures(): Promise<Figures>;
  /** In Prometheus' text format, and what to call that; merged with those of others, if there are any. */
  scrape(): Promise<{ text: string; contentType: string }>;
}

export type Figures = MetricObjectWithValues<MetricValue<string>>[];

type Define = (prom: typeof import("prom-client"), registers: Registry[]) => void;

export function createMetrics(gatherOthers: () => Promise<readonly Figures[]> = async () => []): Metrics {
  const waiting: Define[] = [];
  let loaded: Promise<{ prom: typeof import("prom-client"); registry: Registry }> | undefined;

  async function load() {
    const prom = await import("prom-client");
    const registry = new prom.Registry();
    return { prom, registry };
  }

  /** Whatever was defined so far is registered with it. */
  async function ready() {
    loaded ??= load();
    const { prom, registry } = await loaded;
    for (const define of waiting.splice(0)) define(prom, [registry]);
    return { prom, registry };
  }

  const figures = async (): Promise<Figures> => (await ready()).registry.getMetricsAsJSON();

  return {
    async histogram(name, help, labels, buckets) {
      const { prom, registry } = await ready();
      return new prom.Histogram({ name, help, labelNames: labels, buckets, registers: [registry] });
    },
    gauge(name, help, read, merged = "sum") {
      waiting.push((prom, registers) => {
        new prom.Gauge({
          name,
          help,
          registers,
          aggregator: merged,
          collect() {
            this.set(read());
          },
        });
      });
    },
    tally(name, help, label, fields) {
      const counts = Object.fromEntries(fields.map((field) => [field, 0])) as Record<(typeof fields)[number], number>;
      waiting.push((prom, registers) => {
        new prom.Counter({
          name,
          help,
          labelNames: [label],
          registers,
          collect() {
            this.reset();
            for (const field of fields) this.inc({ [label]: field }, counts[field]);
          },
        });
      });
      return counts;
    },
    figures,
    async scrape() {
      const { prom, registry } = await ready();
      const others = await gatherOthers();
      const merged = others.length === 0 ? registry : prom.AggregatorRegistry.aggregate([await figures(), ...others]);
      return { text: await merged.metrics(), contentType: registry.contentType };
    },
  };
}
