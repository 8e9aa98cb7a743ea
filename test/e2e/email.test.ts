/** Real servers, a real mail server, and what happens to emails when one of the parts is gone. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { emailClaimMs } from "../../src/email/outbox/store.ts";
import { startPostgres } from "../ground/postgres.ts";
import { type Environment, until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { cli, type Server, startServer } from "../ground/server.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";
import { databases, metric, must, newDatabase, query } from "./servers.ts";

interface Row {
  id: string;
  state: string;
  reason: string | null;
  unsure: number;
}

/** Into the outbox behind the server's back, as another process would. */
async function enqueue(env: Environment, count: number): Promise<void> {
  const [tenant] = (await query(env, "select id from tenants where slug = 'default'")) as { id: string }[];
  const rows = Array.from({ length: count }, (_, i) => {
    const now = Date.now();
    const values = [newId("email", systemClock), tenant?.id, "quota", `ann${i}@example.com`, "Hello", "text", "html"];
    return `(${values.map((value) => `'${value}'`).join(", ")}, 'queued', ${now}, ${now})`;
  });
  await query(
    env,
    `insert into emails (id, tenant_id, kind, recipient, subject, text, html, state, due_at, created_at) values ${rows.join(", ")} returning id`,
  );
}

const rowsOf = async (env: Environment) =>
  (await query(env, "select id, state, reason, unsure from emails order by id")) as Row[];

/** As if so much time had passed for the outbox. */
async function pass(env: Environment, ms: number): Promise<void> {
  const earlier = ["due_at", "claimed_until", "handed_at"].map((column) => `${column} = ${column} - ${ms}`);
  await query(env, `update emails set ${earlier.join(", ")} where state in ('queued', 'sending') returning id`);
}

/** A claim whose answer was lost with the database runs out first. */
async function allSent(env: Environment): Promise<Row[]> {
  return await until(
    "all emails to be sent",
    async () => {
      const rows = await rowsOf(env);
      return rows.every(({ state }) => state === "sent") ? rows : undefined;
    },
    emailClaimMs + 40_000,
  );
}

/** How often each was taken. */
const timesOf = ({ taken }: SmtpServer) =>
  [...Map.groupBy(taken, ({ messageId }) => messageId).values()].map((one) => one.length);

const takenBy = (smtp: SmtpServer, count: number) =>
  until(`${count} emails to arrive`, () => smtp.taken.length >= count || undefined);

const patienceMs = 2 * emailClaimMs + 60_000;

// They mostly wait for the next look at the outbox: side by side that takes a third of the time.
for (const database of databases) {
  describe(database, () => {
    test.concurrent(
      "what is in the outbox arrives, and the figures say so",
      async () => {
        const smtp = await startSmtp();
        const env: Environment = {
          ...(await newDatabase(database)),
          SMTP_URL: smtp.url,
          QL_BASE_URL: "https://go.example.com",
        };
        const server = await startServer({ dataDir: String(env.QL_DATA), env });
        await enqueue(env, 12);
        const rows = await allSent(env);
        expect(smtp.taken.map(({ messageId }) => messageId).sort()).toEqual(
          rows.map(({ id }) => `<${id}@go.example.com>`),
        );
        const scrape = async () => (await fetch(`${server.url}/metrics`)).text();
        expect(metric(await scrape(), 'quicklink_emails_total{provider="smtp",outcome="accepted"}')).toBe(12);
        // Read every ten seconds, the first time perhaps while they were waiting.
        const late = async () => metric(await scrape(), "quicklink_email_late_seconds");
        await until("no email to be late", async () => (await late()) === 0 || undefined, 30_000);
        expect(await server.stop()).toBe(0);
        await smtp.stop();
      },
      patienceMs,
    );

    test.concurrent(
      "kill -9 in the middle loses nothing, and sends at most one twice",
      async () => {
        const smtp = await startSmtp();
        smtp.manners = { answerAfterMs: 100 };
        const env: Environment = { ...(await newDatabase(database)), SMTP_URL: smtp.url };
        const dataDir = String(env.QL_DATA);
        let server: Server = await startServer({ dataDir, env });
        await enqueue(env, 20);
        await takenBy(smtp, 5);
        await server.kill();
        smtp.manners = {};
        server = await startServer({ dataDir, env, key: server.key });
        await pass(env, 60_000); // the claims of the dead run out
        await until(
          "them to be taken back",
          async () => (await rowsOf(env)).every(({ state }) => state !== "sending") || undefined,
        );
        await pass(env, 120_000); // those with an unknown outcome are tried again a minute later
        const rows = await allSent(env);
        expect(timesOf(smtp)).toHaveLength(20);
        expect(timesOf(smtp).filter((times) => times > 1).length).toBeLessThanOrEqual(1);
        expect(Math.max(...timesOf(smtp))).toBeLessThanOrEqual(2);
        expect(rows.filter(({ unsure }) => unsure > 0).length).toBeGreaterThanOrEqual(1);
        await server.stop();
        await smtp.stop();
      },
      patienceMs,
    );

    test.concurrent(
      "a server that is stopped in order first hears what became of its emails",
      async () => {
        const smtp = await startSmtp();
        smtp.manners = { answerAfterMs: 300 };
        const env: Environment = { ...(await newDatabase(database)), SMTP_URL: smtp.url };
        const server = await startServer({ dataDir: String(env.QL_DATA), env });
        await enqueue(env, 4);
        await takenBy(smtp, 1);
        expect(await server.stop()).toBe(0);
        const rows = await rowsOf(env);
        expect(rows.filter(({ state }) => state === "sent")).toHaveLength(smtp.taken.length);
        expect(rows.filter(({ state }) => state === "sending")).toEqual([]);
        await smtp.stop();
      },
      patienceMs,
    );
  });
}

test.concurrent(
  "without a mail server emails are in the log",
  async () => {
    const env: Environment = { ...(await newDatabase("SQLite")), QL_LOG_LEVEL: "info" };
    const server = await startServer({ dataDir: String(env.QL_DATA), env });
    await enqueue(env, 1);
    await allSent(env);
    // What a process has written arrives a moment later.
    await until("the email to be in the log", async () => server.output().includes("ann0@example.com") || undefined);
    await server.stop();
  },
  patienceMs,
);

if (redisAvailable() && databases.includes("PostgreSQL")) {
  describe("with parts gone", () => {
    test.concurrent(
      "Redis unavailable: emails wait, and are sent when it is back",
      async () => {
        const [smtp, redis] = await Promise.all([startSmtp(), startRedis()]);
        const env = { ...(await newDatabase("PostgreSQL")), REDIS_URL: redis.url, SMTP_URL: smtp.url };
        const server = await startServer({ env });
        await redis.kill();
        await enqueue(env, 5);
        await until(
          "them to wait",
          async () => (await rowsOf(env)).every(({ reason }) => reason === "unavailable") || undefined,
        );
        expect(smtp.taken).toEqual([]);
        await redis.restart();
        await allSent(env);
        expect(timesOf(smtp)).toEqual([1, 1, 1, 1, 1]);
        await server.stop();
        await Promise.all([smtp.stop(), redis.stop()]);
      },
      patienceMs,
    );

    test.concurrent(
      "PostgreSQL killed between hand-over and mark: nothing is lost, and nothing sent twice",
      async () => {
        const [smtp, redis, postgres] = await Promise.all([
          startSmtp(),
          startRedis(),
          startPostgres({ durable: true }),
        ]);
        smtp.manners = { answerAfterMs: 300 };
        const env = {
          ...{ DATABASE_URL: await postgres.createDatabase("email"), QL_CODE_SALT: "a salt for end-to-end tests" },
          ...{ REDIS_URL: redis.url, SMTP_URL: smtp.url },
        };
        must(await cli(["migrate"], { env }));
        const server = await startServer({ env });
        await enqueue(env, 6);
        await takenBy(smtp, 1);
        await postgres.kill();
        smtp.manners = {};
        await postgres.restart();
        await allSent(env);
        expect(timesOf(smtp)).toEqual([1, 1, 1, 1, 1, 1]);
        await server.stop();
        await Promise.all([smtp.stop(), redis.stop(), postgres.stop()]);
      },
      patienceMs,
    );
  });
}
