import { Counter, Gauge, Histogram, Registry } from "prom-client";

/**
 * What we count, for Prometheus. The redirect path must not pay for labels and hashing, so it adds to plain numbers
 * (`tally`), which are read only when somebody scrapes.
 */
export interface Metrics {
  readonly registry: Registry;
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  histogram(name: string, help: string, labels: readonly string[], buckets: number[]): Histogram;
  gauge(name: string, help: string, read: () => number): void;
  /** A counter whose series are fields of one plain object: add with `fields.x++`. */
  tally<Field extends string>(
    name: string,
    help: string,
    label: string,
    fields: readonly Field[],
  ): Record<Field, number>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  return {
    registry,
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers: [registry] }),
    histogram: (name, help, labels, buckets) =>
      new Histogram({ name, help, labelNames: labels, buckets, registers: [registry] }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
    tally(name, help, label, fields) {
      const counts = Object.fromEntries(fields.map((field) => [field, 0])) as Record<(typeof fields)[number], number>;
      new Counter({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect() {
          this.reset();
          for (const field of fields) this.inc({ [label]: field }, counts[field]);
        },
      });
      return counts;
    },
  };
}
