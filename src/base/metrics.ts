import type { Counter, Gauge, Histogram, MetricObjectWithValues, MetricValue, Registry } from "prom-client";

/**
 * Metrics for Prometheus. The redirect path must not pay for labels and hashing, so it adds to plain numbers (`tally`)
 * that are read on a scrape. prom-client is loaded for the first scrape: it takes 5 MB, and many small servers are never
 * scraped.
 */
export interface Metrics {
  /** Observations made before prom-client is loaded are kept until then; many of them load it. */
  histogram<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    buckets: number[],
  ): Observe<Label>;
  /** With workers, `merged` says how their values are combined. */
  gauge(name: string, help: string, read: () => number, merged?: Merged): void;
  /** Series that are read on a scrape. Several callers may add series under one name. */
  series(kind: "gauge" | "counter", about: MetricInfo, read: () => Iterable<MetricReading>): void;
  /** A counter whose series are fields of one plain object: add with `fields.x++`. */
  tally<Field extends string>(
    name: string,
    help: string,
    label: string,
    fields: readonly Field[],
  ): Record<Field, number>;
  /** This process's figures, to be sent to the process that is scraped. */
  figures(): Promise<MetricFigures>;
  /** In Prometheus' text format, with its content type; merged with the figures of other processes, if any. */
  scrape(): Promise<{ text: string; contentType: string }>;
}

export type Observe<Label extends string> = (labels: Readonly<Record<Label, string>>, value: number) => void;
export type MetricReading = readonly [labels: Readonly<Record<string, string>>, value: number];
export type Merged = "sum" | "max" | "min";
export type MetricFigures = MetricObjectWithValues<MetricValue<string>>[];

export interface MetricInfo {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly merged?: Merged;
}

type Define = (prom: typeof import("prom-client"), registers: Registry[]) => void;

const earlyMost = 1_000;

export function createMetrics(gatherOthers: () => Promise<readonly MetricFigures[]> = async () => []): Metrics {
  const waiting: Define[] = [];
  const families = new Map<string, (() => Iterable<MetricReading>)[]>();
  let loaded: Promise<{ prom: typeof import("prom-client"); registry: Registry }> | undefined;

  async function load() {
    const prom = await import("prom-client");
    const registry = new prom.Registry();
    return { prom, registry };
  }

  /** Registers everything that was defined so far. */
  async function ready() {
    loaded ??= load();
    const { prom, registry } = await loaded;
    for (const define of waiting.splice(0)) define(prom, [registry]);
    return { prom, registry };
  }

  function series(kind: "gauge" | "counter", about: MetricInfo, read: () => Iterable<MetricReading>): void {
    const { name, help, labels: labelNames, merged: aggregator = "sum" } = about;
    const family = families.get(name);
    if (family !== undefined) {
      family.push(read);
      return;
    }
    const reads = [read];
    families.set(name, reads);
    waiting.push((prom, registers) => {
      const collect = () => {
        metric.reset();
        for (const [labels, value] of reads.flatMap((one) => [...one()])) metric.inc(labels, value);
      };
      const settings = { name, help, labelNames, registers, aggregator, collect };
      const metric: Gauge | Counter = kind === "gauge" ? new prom.Gauge(settings) : new prom.Counter(settings);
    });
  }

  const figures = async (): Promise<MetricFigures> => (await ready()).registry.getMetricsAsJSON();

  return {
    series,
    histogram(name, help, labelNames, buckets) {
      const early: MetricReading[] = [];
      let histogram: Histogram | undefined;
      waiting.push((prom, registers) => {
        histogram = new prom.Histogram({ name, help, labelNames, buckets, registers });
        for (const [labels, value] of early.splice(0)) histogram.observe(labels, value);
      });
      return (labels, value) => {
        if (histogram !== undefined) return histogram.observe(labels, value);
        if (early.length < earlyMost) early.push([labels, value]);
        if (early.length >= earlyMost / 2) void ready();
      };
    },
    gauge: (name, help, read, merged = "sum") =>
      series("gauge", { name, help, labels: [], merged }, () => [[{}, read()]]),
    tally(name, help, label, fields) {
      const counts = Object.fromEntries(fields.map((field) => [field, 0])) as Record<(typeof fields)[number], number>;
      series("counter", { name, help, labels: [label] }, () =>
        fields.map((field) => [{ [label]: field }, counts[field]] as const),
      );
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
