import { expect, test } from "bun:test";
import { createMetrics, type MetricFigures } from "./metrics.ts";

function process(visits: number, instances: number, links: number, seconds: number, others: MetricFigures[] = []) {
  const metrics = createMetrics(async () => others);
  metrics.tally("visits_total", "Visits.", "outcome", ["counted"]).counted += visits;
  metrics.gauge("instances", "Servers.", () => instances, "max");
  metrics.gauge("links", "Links.", () => links);
  metrics.histogram("seconds", "Durations.", ["method"], [0.1, 1])({ method: "GET" }, seconds);
  return metrics;
}

test("figures of several processes are added up, and the largest taken where a sum makes no sense", async () => {
  const others = [await process(2, 3, 10, 0.5).figures(), await process(40, 2, 20, 0.05).figures()];
  // As they arrive over a channel between processes.
  const metrics = process(100, 3, 30, 5, JSON.parse(JSON.stringify(others)));
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
  const { text } = await process(7, 1, 1, 1).scrape();
  expect(text).toContain('visits_total{outcome="counted"} 7\n');
});

test("series of several callers share one name, and those of callers that left disappear", async () => {
  const metrics = createMetrics();
  const about = { name: "open", help: "Open.", labels: ["of"], merged: "max" } as const;
  let nodes = ["a", "b"];
  metrics.series("gauge", about, () => [[{ of: "sql" }, 1]]);
  metrics.series("gauge", about, () => nodes.map((of) => [{ of }, 2] as const));
  const open = async () => (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith("open{"));
  expect(await open()).toEqual(['open{of="sql"} 1', 'open{of="a"} 2', 'open{of="b"} 2']);
  nodes = [];
  expect(await open()).toEqual(['open{of="sql"} 1']);
});

test("observations before the first scrape are in the first answer", async () => {
  const metrics = createMetrics();
  const observe = metrics.histogram("seconds", "Durations.", ["method"], [1]);
  observe({ method: "GET" }, 0.5);
  await metrics.figures();
  observe({ method: "GET" }, 0.5);
  expect((await metrics.scrape()).text).toContain('seconds_count{method="GET"} 2\n');
});
