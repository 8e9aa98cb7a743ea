/** Emails about clicks: real servers and a real mail server. */
import { describe, expect, test } from "bun:test";
import { dayMs } from "../../src/base/clock.ts";
import { dimensions } from "../../src/clicks/click.ts";
import { writeTally } from "../../src/clicks/rollups/packed.ts";
import { addClick, newTally } from "../../src/clicks/rollups/tally.ts";
import { mutant } from "../ground/mutant.ts";
import { type Environment, until } from "../ground/process.ts";
import { startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { startSmtp, type TakenMail } from "../ground/smtp.ts";
import { databases, newDatabase, query, siteOf } from "./servers.ts";

const hourMs = 3_600_000;
const monday = Date.UTC(2026, 10, 16);
const contact = "ops@example.com";

/**
 * A copy of the program for which it is always Monday, 9:00: the test must not depend on the day on which it runs. It looks
 * for due jobs every second, so that the test takes seconds.
 */
const onMonday = () =>
  mutant([
    {
      file: "clicks/notices/find-notices.ts",
      from: "const now = clock.now();",
      to: `const now = ${monday + 9 * hourMs};`,
    },
    { file: "base/jobs.ts", from: "const lookMs = 15_000;", to: "const lookMs = 1_000;" },
  ]);

/** The parts of a mail, decoded. */
function decoded({ raw }: TakenMail): string {
  const text = raw.replaceAll("\r\n", "\n").replaceAll(/=\n/g, "");
  const bytes = text.replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

for (const database of databases) {
  describe(database, () => {
    test("a week's digest arrives once, however many servers look for it and how often, and its link switches it off", async () => {
      const smtp = await startSmtp();
      const redis = await startRedis();
      const first = await newDatabase(database);
      const env: Environment = {
        ...first,
        ...{ SMTP_URL: smtp.url, QL_BASE_URL: "https://go.example.com" },
        ...(database === "PostgreSQL" ? { REDIS_URL: redis.url } : {}),
      };
      const source = onMonday();
      const one = await startServer({ dataDir: String(env.QL_DATA), env, source });
      const other = database === "PostgreSQL" ? await startServer({ env, source, key: one.key }) : undefined;
      const site = siteOf(one, env);
      try {
        const settings = { contact, notices: { deadTarget: false } };
        expect((await site.call("PATCH", "/api/email/settings", { body: settings })).status).toBe(200);
        const { code } = await site.create({ url: "https://example.com/", code: "sale", title: "Sale" });
        const [row] = (await query(
          env,
          `select t.id, t.number as tenant, l.number as link from tenants t join links l on l.tenant_id = t.id`,
        )) as { id: string; tenant: number; link: number }[];
        if (row === undefined) throw new Error("there is no link");
        for (let day = 1; day <= 7; day++) await condense(env, row, monday - day * dayMs, 100 * day);
        await query(
          env,
          `insert into click_tenants (tenant_id, zone, facts, event_days, late, hours_until, days_until, months_until)
            values ('${row.id}', 'UTC', 1, null, 0, 0, ${monday}, 0) on conflict (tenant_id)
            do update set days_until = ${monday} returning zone`,
        );
        await query(
          env,
          `insert into click_links (link, tenant_id, domain, code, clicks, first_at, last_at)
            values (${row.link}, '${row.id}', '', '${code}', 2800, 1, ${monday - 1}) on conflict (link)
            do update set clicks = 2800, last_at = ${monday - 1} returning link`,
        );
        const runs = async () => {
          const [job] = (await query(env, "select succeeded_at from jobs where name = 'click-notices'")) as {
            succeeded_at: number | null;
          }[];
          return Number(job?.succeeded_at ?? 0);
        };
        for (let times = 0; times < 2; times++) {
          const before = await runs();
          await until("the job to be planned", async () => {
            const due = "update jobs set due_at = 0 where name = 'click-notices' returning name";
            return (await query(env, due)).length === 1 || undefined;
          });
          await until("the job to run", async () => (await runs()) > before || undefined, 60_000);
        }
        const mail = await until("the digest to arrive", () => smtp.taken[0]);
        expect(smtp.taken.filter(({ to }) => to === contact)).toHaveLength(1);
        const text = decoded(mail);
        expect(text).toContain("Subject: Your week: 2,800 clicks");
        expect(text).toContain("█▇▆▅▄▃▂");
        expect(text).toContain("https://go.example.com/sale: 2,800");
        expect(text).toContain('aria-label="Clicks a day: Monday 700, Tuesday 600');
        const [, path = ""] = /Switch off the weekly summary: https:\/\/go\.example\.com(\/\S+)/.exec(text) ?? [];
        expect(mail.raw.replaceAll(/\r?\n\s+/g, "").replaceAll(" ", "")).toContain(
          `List-Unsubscribe:<https://go.example.com${path}>`,
        );
        const asked = await site.call("GET", path, { key: null });
        expect([asked.status, asked.text.includes("the weekly summary of clicks")]).toEqual([200, true]);
        const switches = async () =>
          (await site.call("GET", "/api/email/settings")).json<{ notices: Record<string, boolean> }>().notices;
        expect((await switches()).digest).toBe(true);
        expect((await site.call("POST", path, { key: null })).status).toBe(200);
        expect(await switches()).toEqual({
          firstClick: false,
          spike: true,
          drop: false,
          deadTarget: false,
          digest: false,
        });
        const suppressed = await site.call("GET", "/api/email/suppressions");
        expect(suppressed.json<{ items: unknown[] }>().items).toEqual([]);
        // The link of a former contact decides nothing.
        await site.call("PATCH", "/api/email/settings", {
          body: { contact: "new@example.com", notices: { digest: true } },
        });
        expect((await site.call("POST", path, { key: null })).status).toBe(200);
        expect((await switches()).digest).toBe(true);
      } finally {
        await Promise.all([one.stop(), other?.stop()]);
        await Promise.all([smtp.stop(), redis.stop()]);
      }
    }, 120_000);
  });
}

async function condense(
  env: Environment,
  { tenant, link }: { tenant: number; link: number },
  start: number,
  clicks: number,
) {
  const tally = newTally();
  const facts = dimensions.map((name) => (name === "country" ? "DE" : ""));
  for (let each = 0; each < clicks; each++) {
    addClick(tally, { at: start + 10 * hourMs, reason: 0, isFirst: each === 0, facts }, true);
  }
  const { reasons, visitors, itemised, series, packed, names } = writeTally(tally, start);
  const [before, after] = env.DATABASE_URL === undefined ? ["x'", "'"] : ["'\\x", "'"];
  const bytes = (some: Uint8Array | null) => `${before}${Buffer.from(some ?? []).toString("hex")}${after}`;
  for (const subject of [tenant, link]) {
    await query(
      env,
      `insert into click_rollups (subject, grain, start, until, reasons, visitors, itemised, series, facts, packed, names) values
        (${subject}, 2, ${start}, ${start + dayMs}, '${reasons}', ${visitors}, ${itemised}, '${series}', '', ${bytes(packed)}, ${bytes(names)})
        returning subject`,
    );
  }
}
