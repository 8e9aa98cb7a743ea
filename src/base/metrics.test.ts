import { expect, test } from "bun:test";
import { createMetrics, type Figures } from "./metrics.ts";

async function process(visits: number, instances: number, links: number, seconds: number, others: Figures[] = []) {
  const metrics = createMetrics(async () => others);
  metrics.tally("visits_total", "Visits.", "outcome", ["counted"]).counted += visits;
  metrics.gauge("instances", "Servers.", () => instances, "max");
  metrics.gauge("links", "Links.", () => links);
  (await metrics.histogram("seconds", "Durations.", ["method"], [0.1, 1])).observe({ method: "GET" }, seconds);
  return metrics;
}

test("figures of several processes are added up, and the largest taken where a sum makes no sense", async () => {
  const others = [await (await process(2, 3, 10, 0.5)).figures(), await (await process(40, 2, 20, 0.05)).figures()];
  // As they arrive over a channel between processes.
  const metrics = await process(100, 3, 30, 5, JSON.parse(JSON.stringify(others)));
  const { text } = await metrics.scrape();
  for (const line of [
    'visits_total{outcome="counted"} 142',
    "instances 3",
    "links 60",
    'seconds_bucket{le="0.1",method="GET"} 1',
    'seconds_bucket{le="+Inf",method="GET"} 3',
    'seconds_count{method="GET"} 3',
    "# TYPE visits_total counter",
    "# HELP links Links.",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
});

test("a process alone shows its own", async () => {
  const { text } = await (await process(7, 1, 1, 1)).scrape();
  expect(text).toContain('visits_total{outcome="counted"} 7\n');
});
