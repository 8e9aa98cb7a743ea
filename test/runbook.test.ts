/** The runbook can be relied on at night: every command in it runs, and prints what it says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Site, siteOf, startSite } from "./e2e/servers.ts";
import { find } from "./ground/machine.ts";
import { postgresAvailable } from "./ground/postgres.ts";
import { cleanEnvironment, runProcess, until } from "./ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "./ground/redis.ts";
import { programInShell } from "./ground/server.ts";
import { tempFolder } from "./ground/temp.ts";

const root = join(import.meta.dir, "..");
const QL_SIGNING_KEYS = `k1:${"3".repeat(64)}`;
const QL_SECRET_KEYS = `k2:${"2".repeat(64)},k1:${"1".repeat(64)}`;
const runbook = readFileSync(join(root, "docs/runbook.md"), "utf8");

interface Step {
  readonly part: string;
  readonly command: string;
  readonly prints: string;
}

/** Code blocks by their mark, each under its section's title. */
function blocks(mark: string): { part: string; text: string }[] {
  return runbook.split(/^## /m).flatMap((part) => {
    const title = part.startsWith("# ") ? "beginning" : (part.split("\n")[0] ?? "");
    const found = part.matchAll(new RegExp(`^( *)\`\`\`sh ${mark}\\n([\\s\\S]*?)^ *\`\`\`$`, "gm"));
    return [...found].map(([, indent = "", text = ""]) => ({
      part: title,
      text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }));
  });
}

const steps: Step[] = blocks("test").flatMap(({ part, text }) =>
  [...text.matchAll(/^(.+)\n# → (.+)\n/gm)].map(([, command = "", prints = ""]) => ({ part, command, prints })),
);

describe("the runbook", () => {
  test("says for every command what it prints", () => {
    const lines = blocks("test").flatMap(({ text }) => text.trimEnd().split("\n"));
    expect(lines.length).toBe(steps.length * 2);
    expect(steps.length).toBeGreaterThan(40);
  });

  test("says in every part how you notice, what visitors notice, and when it is over", () => {
    const parts = runbook.split(/^## /m).slice(1);
    expect(parts.length).toBeGreaterThan(10);
    for (const part of parts) {
      for (const word of ["**You notice**", "**For visitors**", "**Act**", "**It is over**"])
        expect(part).toContain(word);
    }
  });
});

if (postgresAvailable() && redisAvailable()) {
  describe("its commands", () => {
    let redis: RedisServer;
    let site: Site;
    let code: string;
    let env: Record<string, string>;

    beforeAll(async () => {
      redis = await startRedis({
        settings: ["--maxmemory", "64mb", "--maxmemory-policy", "volatile-lru", "--maxmemory-samples", "10"],
      });
      const settings = {
        REDIS_URL: redis.url,
        QL_METRICS_TOKEN: "a token for the runbook",
        QL_SECRET_KEYS,
        QL_SIGNING_KEYS,
      };
      const { server, env: database } = await startSite("PostgreSQL", settings);
      site = siteOf(server, { ...database, ...settings });
      code = (await site.create({ url: "https://example.com/", hitsPerMonth: 100 })).code;
      await until("Redis", async () => (await site.visit("/readyz")).text.includes('"status":"ready"') || undefined);
      await site.reach(`/${code}`);
      const bin = tempFolder("bin");
      const tool = find("postgresql");
      env = cleanEnvironment({
        ...site.env,
        PORT: String(server.port),
        PATH: [bin, tool?.folder, process.env.PATH].join(":"),
      });
      writeFileSync(join(bin, "quicklink"), `#!/bin/sh\nexec ${programInShell} "$@"\n`);
      chmodSync(join(bin, "quicklink"), 0o755);
    }, 60_000);

    afterAll(async () => {
      await site.server.stop();
      await redis.stop();
    });

    test.each(steps)("$part: $command", async ({ command, prints }) => {
      const setup = blocks("setup").map(({ text }) => text);
      const script = [...setup, command].join("\n").replaceAll("http://localhost:3000", site.server.url);
      // Some say how things are a moment from now: corrected, written down, asked for.
      await until(
        `"${prints}" from ${command}`,
        async () => {
          const {
            code: status,
            stdout,
            stderr,
          } = await runProcess(["sh", "-c", script.replaceAll(/\bCODE\b/g, code)], { env });
          expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: "" });
          return stdout.replaceAll(/\s+/g, " ").includes(prints) || undefined;
        },
        10_000,
      );
    });
  });
}
