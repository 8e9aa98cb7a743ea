/** What an operator is given in ops/ works: promtool accepts and tests the rules, and we export what they ask for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must, type Site, siteOf, startSite } from "./e2e/servers.ts";
import { find } from "./ground/machine.ts";
import { mutant } from "./ground/mutant.ts";
import { postgresAvailable } from "./ground/postgres.ts";
import { runProcess, until } from "./ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "./ground/redis.ts";
import { tempFolder } from "./ground/temp.ts";

const ops = join(import.meta.dir, "../ops");
const read = (path: string) => readFileSync(join(ops, path), "utf8");

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly thresholds?: { readonly steps: readonly Step[] } } };
}

interface Step {
  readonly value: number | null;
}

const groups = (Bun.YAML.parse(read("prometheus/alerts.yml")) as { groups: { rules: Rule[] }[] }).groups;
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter((rule) => rule.alert !== undefined);
const dashboard = JSON.parse(read("grafana/dashboard.json")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
};
const panelAsks = dashboard.panels.flatMap((panel) => panel.targets ?? []).map(({ expr }) => expr);
const variableAsks = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);

/** The metrics of an expression: what is left of it without labels, ranges, groupings and functions. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replace(/\blabel_values\((\w+).*\)/, "$1")
    .replace(/\b(?:by|on|without)\s*\([^)]*\)/g, "");
  const words = [...bare.matchAll(/(?<![\w.])([a-z_:][\w:]*)(?!\w*\s*\()/gi)].map(([word]) => word);
  return words.filter((word) => !["and", "or", "unless"].includes(word));
}

const tool = find("promtool");
if (tool !== undefined) {
  describe("promtool", () => {
    const promtool = (...args: string[]) => runProcess([tool.path, ...args], { cwd: join(ops, "prometheus") });

    test("finds nothing wrong with the rules", async () => {
      expect(await promtool("check", "rules", "--lint-fatal", "alerts.yml")).toMatchObject({ code: 0 });
    });

    test("sees each alert fire at its value and not before", async () => {
      expect(await promtool("test", "rules", "alerts.test.yml")).toMatchObject({ code: 0 });
    });
  });
}

describe("alerts", () => {
  test("are all tested", () => {
    const tested = read("prometheus/alerts.test.yml");
    expect(alerts.filter(({ alert }) => !tested.includes(`alertname="${alert}"`))).toEqual([]);
  });

  test("say how bad it is, what it means, and which part of the runbook helps", () => {
    const runbook = readFileSync(join(ops, "../docs/runbook.md"), "utf8");
    const anchors = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => anchorOf(title));
    for (const { labels, annotations } of alerts) {
      expect(labels?.severity).toMatch(/^(?:warning|critical)$/);
      expect(annotations).toEqual({
        summary: expect.any(String),
        description: expect.any(String),
        runbook: expect.any(String),
      });
      expect(anchors.map((anchor) => `docs/runbook.md#${anchor}`)).toContain(annotations?.runbook ?? "");
    }
  });
});

describe("the dashboard", () => {
  test("has its panels side by side, none over another", () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });

  test("draws its lines where alerts fire", () => {
    const values = alerts.flatMap(({ expr }) => [...expr.matchAll(/(?:[<>]|==) ([\d.e]+)/g)].map(([, n]) => Number(n)));
    const steps = dashboard.panels.flatMap((panel) => panel.fieldConfig?.defaults.thresholds?.steps ?? []);
    const drawn = steps.flatMap(({ value }) => value ?? []);
    expect(drawn.length).toBeGreaterThan(10);
    expect(drawn.filter((value) => !values.includes(value))).toEqual([]);
  });
});

if (postgresAvailable() && redisAvailable()) {
  describe("a server with PostgreSQL and Redis", () => {
    let text: string;
    let redis: RedisServer;
    let site: Site;

    beforeAll(async () => {
      redis = await startRedis({ settings: ["--maxmemory", "50mb"] });
      const settings = { REDIS_URL: redis.url };
      // A copy of the program that looks at what it depends on every second.
      const source = mutant(
        ["readiness", "redis-info"].map((job) => ({
          ...{ file: "server/jobs.ts", from: `name: "${job}", everyMs: 15 * second` },
          to: `name: "${job}", everyMs: second`,
        })),
      );
      const { server, env } = await startSite("PostgreSQL", settings, source);
      site = siteOf(server, { ...env, ...settings });
      must(await site.cli("link", "create", "https://example.com/elsewhere"));
      let visits = 0;
      // Redis is written to once it was corrected, and says how it is a little later.
      text = await until("all of it", async () => {
        const { code } = await site.create({ url: "https://example.com/" });
        await site.reach(`/${code}`);
        await site.reach(`/nowhere-${++visits}`);
        const now = (await site.visit("/metrics")).text;
        const signs = [
          /redis_memory_max_bytes\{/,
          /dependency="redis"\} 1/,
          /link_written"\} [1-9]/,
          /missing_written"\} [1-9]/,
          /^quicklink_feed_lag_seconds_count [1-9]/m,
        ];
        return signs.every((sign) => sign.test(now)) ? now : undefined;
      });
    }, 60_000);

    afterAll(async () => {
      await site.server.stop();
      await redis.stop();
    });

    test("exports every metric that rules and panels ask for", () => {
      const recorded = rules.flatMap(({ record }) => record ?? []);
      const exported = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = "", type]) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      );
      const asked = [...rules.map(({ expr }) => expr), ...panelAsks, ...variableAsks].flatMap(metricsIn);
      expect(new Set(asked).size).toBeGreaterThan(20);
      const known = new Set([...exported, ...recorded, "up"]);
      expect(asked.filter((name) => !known.has(name))).toEqual([]);
    });

    test("says how Redis is, and what it was asked", () => {
      const series = (name: string) => Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
      expect(series('redis_memory_max_bytes\\{use="both",node="127.0.0.1:\\d+"\\}')).toBe(50 * 1_048_576);
      expect(series('redis_memory_used_bytes\\{use="both",node="127.0.0.1:\\d+"\\}')).toBeGreaterThan(100_000);
      expect(series('redis_evicted_keys_total\\{use="both",node="127.0.0.1:\\d+"\\}')).toBe(0);
      expect(series('redis_command_duration_seconds_count\\{use="cache",command="EVALSHA"\\}')).toBeGreaterThan(0);
      expect(series('quicklink_breaker_open\\{of="cache"\\}')).toBe(0);
      expect(series('quicklink_breaker_open\\{of="limits"\\}')).toBe(0);
      expect(series('quicklink_breaker_open\\{of="sql"\\}')).toBe(0);
      expect(series('quicklink_dependency_up\\{dependency="sql"\\}')).toBe(1);
      expect(series("quicklink_readiness")).toBe(0);
      expect(series("quicklink_recorder_failing")).toBe(0);
    });

    if (tool !== undefined) {
      test("answers the queries of the cache's design as they are written there", async () => {
        const scrape = async () => (await site.visit("/metrics")).text;
        const links = await Promise.all([1, 2, 3].map(() => site.create({ url: "https://example.com/" })));
        const codes = links.map(({ code }) => code);
        for (const code of codes) must(await site.cli("cache", "warm", code));
        const before = await scrape();
        for (const code of [...codes, ...codes, ...codes, "nowhere-at-all"]) await site.reach(`/${code}`);
        const after = await scrape();
        const gained = (metric: string, tier: string) => {
          const read = (scraped: string) =>
            Number(new RegExp(`^quicklink_cache_${metric}_total\\{tier="${tier}"\\} (.*)$`, "m").exec(scraped)?.[1]);
          return read(after) - read(before);
        };
        const [byMemory, byRedis] = [gained("hit", "memory"), gained("hit", "redis")];
        const [missedMemory, missed] = [gained("miss", "memory"), gained("miss", "redis")];
        expect(Math.min(byMemory, byRedis, missed)).toBeGreaterThan(0);
        expect(missedMemory).toBe(0);

        const near = (expression: string, value: number) => `abs((${expression}) - ${value}) < bool 0.001`;
        const isTrue = (expr: string, labels = "{}") => ({
          expr,
          eval_time: "5m",
          exp_samples: [{ labels, value: 1 }],
        });
        const hitRate = near(seedQueries.hitRate, (byMemory + byRedis) / (byMemory + byRedis + missed));
        const redis = near(seedQueries.hitRateByTier, byRedis / (byRedis + missed));
        const memory = near(seedQueries.hitRateByTier, 1);
        const asked = [
          isTrue(hitRate),
          isTrue(`(${redis}) and on (tier) quicklink_cache_hit_total{tier="redis"}`, '{tier="redis"}'),
          isTrue(`(${memory}) and on (tier) quicklink_cache_hit_total{tier="memory"}`, '{tier="memory"}'),
          isTrue(`count(${seedQueries.latency}) > bool 0`),
          isTrue(`count(${seedQueries.evictions}) > bool 0`),
        ];
        const file = join(tempFolder("promql"), "seed.test.yml");
        const tests = [{ interval: "1m", input_series: seriesOf(before, after), promql_expr_test: asked }];
        writeFileSync(file, JSON.stringify({ evaluation_interval: "1m", tests }));
        expect(await runProcess([tool.path, "test", "rules", file])).toMatchObject({ code: 0 });
      }, 60_000);
    }

    test("shows that Redis has died in what alerts look at, and has no old figures of it", async () => {
      await redis.kill();
      const { code } = await site.create({ url: "https://example.com/" });
      const signs = [
        /^quicklink_dependency_up\{dependency="redis"\} 0$/m,
        /^quicklink_breaker_open\{of="cache"\} 1$/m,
        /^quicklink_cache_miss_reasons_total\{why="(?:untrusted|failed)"\} [1-9]/m,
        /^quicklink_readiness 1$/m,
      ];
      const after = await until(
        "all of it",
        async () => {
          await site.reach(`/${code}`);
          const now = (await site.visit("/metrics")).text;
          return signs.every((sign) => sign.test(now)) && !now.includes("redis_memory_used_bytes{") ? now : undefined;
        },
        45_000,
      );
      expect(after).toMatch(/^quicklink_dependency_up\{dependency="sql"\} 1$/m);
    }, 60_000);
  });
}

test("a server without Redis counts its misses for memory", async () => {
  const site = await startSite("SQLite");
  const { code } = await site.create({ url: "https://example.com/" });
  for (let i = 0; i < 3; i++) await site.visit(`/${code}`);
  const { text } = await site.visit("/metrics");
  expect(text).toMatch(/^quicklink_cache_hit_total\{tier="memory"\} 2$/m);
  expect(text).toMatch(/^quicklink_cache_miss_total\{tier="memory"\} 1$/m);
  expect(text).toMatch(/^quicklink_cache_miss_total\{tier="redis"\} 0$/m);
  await site.server.stop();
});

/** As the design of the cache has them, word for word; the second one is the first by tier. */
const seedQueries = {
  hitRate: `sum(rate(quicklink_cache_hit_total[5m])) /
    sum(rate(quicklink_cache_hit_total[5m]) + rate(quicklink_cache_miss_total[5m]))`,
  hitRateByTier: `sum by (tier) (rate(quicklink_cache_hit_total[5m])) /
    sum by (tier) (rate(quicklink_cache_hit_total[5m]) + rate(quicklink_cache_miss_total[5m]))`,
  latency: "histogram_quantile(0.99, rate(redis_command_duration_seconds_bucket[5m]))",
  evictions: "rate(redis_evicted_keys_total[5m])",
};

/** Two scrapes as promtool takes them: the first one's values, and then for five minutes the second one's. */
function seriesOf(before: string, after: string): { series: string; values: string }[] {
  const parse = (scraped: string) =>
    new Map(
      [...scraped.matchAll(/^(\w[^ ]*(?:\{.*\})?) (\S+)$/gm)].map(([, series = "", value = ""]) => [series, value]),
    );
  const first = parse(before);
  return [...parse(after)].map(([series, value]) => ({ series, values: `${first.get(series) ?? 0} ${value}x4` }));
}

/** As GitHub makes them. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replace(/\s/g, "-");
