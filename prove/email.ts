/**
 * The limits on email hold at the providers, whatever happens to the sending processes.
 *
 * Five processes share a PostgreSQL and a Redis, and send for three tenants: acme through the platform's SMTP (50 an
 * hour), beta through its own SendGrid key (200), gamma through SMTP without a limit, so that only the platform's 2,000
 * apply, of which the last fifth is for password resets. The mail server and the stand-in for SendGrid are real servers
 * that record the time of every mail they accept. All use one clock, which is moved forward when nothing is in flight,
 * so that hours take minutes; five sections:
 *
 * hours: more mails than fit into three hours are queued at once, shortly before a full hour, and more come after it.
 * The maximum in any 60 minutes equals each limit, and all of them arrive in the end.
 * down: some mails are accepted, then both providers refuse. Refused mails use nothing of the limits, and afterwards as
 * many fit as if they had never been tried.
 * redis_lost: Redis forgets everything, again and again, while they send. The counters start from what SQL has.
 * killed: processes are killed with -9 in the middle, while providers answer slowly: mostly between a mail and its
 * mark (`marked`). sent_twice counts mails that arrived twice, lost those that did not arrive.
 * windows: the maximum in any 60 minutes, over all sections.
 */

import { progress } from "../bench/show.ts";
import { acrossTenants } from "../src/sql/tenant-db.ts";
import { until } from "../test/ground/process.ts";
import { type Site, startSite, type TenantName } from "./email/site.ts";
import type { Attempt, Bound, Claim, Proof } from "./proof.ts";

const attemptFile = "email/outbox/attempt.ts";
const granted = '{ kind: "granted" } as CounterVerdict';
const firstCharge = { file: attemptFile, from: "verdict: await charges.take(email, limitOf(sender.provider.name))" };
const secondCharge = { file: attemptFile, from: "const verdict = await charges.take(email, limitOf(provider.name));" };

export const email: Proof = {
  name: "email",
  shows: "50, 200 and 2,000 emails an hour, sent by five processes for three tenants, with kill -9 and Redis lost",
  needs: ["postgresql", "redis-server", "faketime"],
  controls: [
    {
      name: "no charge",
      edits: [
        { ...firstCharge, to: `verdict: ${granted}` },
        { ...secondCharge, to: `const verdict = ${granted};` },
      ],
      plays: ["hours"],
      breaks: ["hours.acme_at_most", "hours.beta_at_most"],
    },
    {
      name: "a charge after sending",
      edits: [
        {
          ...firstCharge,
          to: `verdict: await charges.status(email.tenant, limitOf(sender.provider.name)).then(({ max, answer }) =>
      answer.kind === "known" && max !== null && (answer.limits[0]?.used ?? 0) >= max
        ? ({ kind: "denied", retryAfterMs: 60_000, limit: { name: "emails" } } as CounterVerdict)
        : (${granted}))`,
        },
        { ...secondCharge, to: `const verdict = ${granted};` },
        {
          file: attemptFile,
          from: "count(provider.name, outcome.kind);",
          to: `count(provider.name, outcome.kind);
      if (outcome.kind === "accepted") await charges.take(email, limitOf(provider.name));`,
        },
      ],
      plays: ["hours"],
      breaks: ["hours.acme_at_most", "hours.beta_at_most"],
    },
    {
      // Both: a counter that has ended too soon would start again from what SQL has.
      name: "half an hour as the window of the limits and of their start values",
      edits: [
        { file: "email/outbox/charges.ts", from: "buckets: 61 }", to: "buckets: 30 }" },
        { file: "email/outbox/counter-seeds.ts", from: "62 * 60_000", to: "31 * 60_000" },
      ],
      plays: ["hours"],
      breaks: ["hours.within_59_minutes"],
    },
    {
      name: "no mark before sending",
      edits: [
        {
          file: attemptFile,
          from: "if (!(await store.handing(email, provider.name, message.messageId))) return void (await charges.release(email));",
          to: "",
        },
      ],
      plays: ["killed"],
      breaks: ["killed.marked"],
    },
    {
      name: "a refund that counts twice",
      edits: [
        { file: "redis/release.lua", from: 'record.state = "released"', to: "record.state = record.state" },
        {
          file: attemptFile,
          from: 'case "deferred": {\n        await charges.release(email);',
          to: 'case "deferred": {\n        await charges.release(email);\n        await charges.release(email);',
        },
      ],
      plays: ["down"],
      breaks: ["down.acme_used", "down.beta_used"],
    },
    {
      name: "no refund",
      edits: [
        {
          file: attemptFile,
          from: 'case "deferred": {\n        await charges.release(email);',
          to: 'case "deferred": {',
        },
      ],
      plays: ["down"],
      breaks: ["down.acme_used", "down.beta_used"],
    },
  ],
  run,
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** From a used limit to a fully available one, whatever bucket it was charged in. */
const freshMs = 63 * minuteMs;
const max = { acme: 50, beta: 200, platform: 2_000, notEssential: 1_600 };
const middleMs = 60_000;
/** How long a provider takes to answer, so that a kill mostly falls between an email and its mark. */
const slowMs = 100;
const calmMs = 3_000;

/** How much is done: `hours` without the platform's limit takes a tenth of the time. */
const usual = {
  platform: true,
  hoursLater: 4,
  refused: { acme: 40, beta: 150 },
  flushes: 6,
  kills: 8,
  killedMails: 750,
};
const few = { platform: false, hoursLater: 1, refused: { acme: 20, beta: 40 }, flushes: 3, kills: 3, killedMails: 240 };
type Sizes = typeof usual;

async function run(attempt: Attempt): Promise<void> {
  const site = await startSite();
  const shown = progress();
  const sections = { hours, down, redis_lost: redisLost, killed, windows };
  try {
    for (const [name, section] of Object.entries(sections)) {
      if (!attempt.plays(name)) continue;
      shown.now(name);
      const says: Says = (promise, done, claims) => {
        shown.end();
        for (const claim of claims) attempt.claim({ unit: "emails", promise, scenario: name, done, ...claim });
      };
      await section(site, attempt.short ? few : usual, says);
    }
  } finally {
    shown.end();
    await site.stop();
  }
}

type Says = (
  promise: string,
  done: string,
  claims: readonly (Pick<Claim, "measure" | "times" | "figure" | "bound"> & { readonly unit?: string })[],
) => void;

type Section = (site: Site, sizes: Sizes, says: Says) => Promise<void>;

const none: Bound = { exactly: 0 };

/**
 * Never more; and not much less, or it would not show that the limit holds. On an overloaded machine an answer of Redis
 * may be lost, and with it a charge.
 */
const upTo = (measure: string, figure: number, most: number) => [
  { measure: `${measure}_at_most`, times: figure, figure, bound: { most } },
  { measure: `${measure}_at_least`, times: figure, figure, bound: { least: 0.9 * most } },
];

const limitsHold = "no 60 minutes have more emails than the limit";
const arrives = "every email is sent in the end";

const hours: Section = async (site, { platform, hoursLater }, says) => {
  const { clock } = site;
  // Two and a half minutes before a full hour: a window that resets with the hour would allow twice as many.
  clock.advance(hourMs - (clock.now() % hourMs) - 2.5 * minuteMs);
  const from = clock.now();
  await site.enqueue("acme", platform ? 130 : 80);
  await site.enqueue("beta", platform ? 450 : 260);
  if (platform) await site.enqueue("gamma", 1_700);
  await site.quiet();
  const reportsAtOnce = arrivals(site).smtp.length;
  if (platform) await site.enqueue("gamma", 450, "reset");
  await site.quiet();
  const [atOnce, beforeFull] = [countsOf(site, from), clock.now()];
  clock.advance(hourMs - (clock.now() % hourMs) + 1_000);
  await site.enqueue("acme", 20);
  await site.enqueue("beta", 30);
  if (platform) await site.enqueue("gamma", 50);
  await site.quiet();
  const acrossTheEdge = total(countsOf(site, beforeFull));
  clock.advance(from + 59 * minuteMs - clock.now());
  await site.quiet();
  const within = total(countsOf(site, beforeFull));
  for (let i = 0; i < hoursLater; i++) {
    clock.advance(freshMs);
    await site.quiet();
  }
  const waiting = await unsent(site);
  const most = mostInAnHour(site, from);
  const sent = total(countsOf(site, from));
  says(limitsHold, "more than fit into an hour queued at once, two minutes before a full hour", [
    ...upTo("acme", most.acme, max.acme),
    ...upTo("beta", most.beta, max.beta),
    ...(platform ? upTo("platform", most.platform, max.platform) : []),
    ...(platform ? upTo("not_essential", reportsAtOnce, max.notEssential) : []),
    { measure: "across_the_full_hour", times: total(atOnce), figure: acrossTheEdge, bound: none },
    { measure: "within_59_minutes", times: total(atOnce), figure: within, bound: none },
  ]);
  says(arrives, "some hours later", [{ measure: "unsent", times: sent, figure: waiting, bound: none }]);
  console.log(
    `email: hours acme=${atOnce.acme} beta=${atOnce.beta} platform=${atOnce.acme + atOnce.gamma} ` +
      `(without resets ${reportsAtOnce}) more_across_the_full_hour=${acrossTheEdge} more_within_59_minutes=${within} ` +
      `most_in_60_minutes: acme=${most.acme} beta=${most.beta} platform=${most.platform} unsent=${waiting}`,
  );
};

const down: Section = async (site, { refused: { acme, beta } }, says) => {
  const { clock, smtp, sendgrid, sql } = site;
  clock.advance(2 * freshMs);
  // Within one minute, so that all charges are in the same bucket.
  clock.advance(minuteMs - (clock.now() % minuteMs) + 1_000);
  const from = clock.now();
  const before = { acme: 10, beta: 20 };
  await site.enqueue("acme", before.acme);
  await site.enqueue("beta", before.beta);
  await site.quiet();
  const accepted = countsOf(site, from);
  await smtp.stop();
  sendgrid.manner = () => new Response("", { status: 503 });
  await site.enqueue("acme", acme);
  await site.enqueue("beta", beta);
  const deferred = () =>
    acrossTenants(sql.db)
      .selectFrom("emails")
      .select((expression) => expression.fn.countAll<number>().as("count"))
      .where("state", "=", "queued")
      .where("reason", "=", "deferred")
      .executeTakeFirstOrThrow();
  await until("all of them to be refused", async () => (await deferred()).count === acme + beta || undefined, middleMs);
  await site.quiet();
  const refused = (await deferred()).count;
  const used = { acme: await site.used("acme", "smtp"), beta: await site.used("beta", "sendgrid") };
  const meanwhile = total(countsOf(site, from)) - total(accepted);
  await smtp.restart();
  sendgrid.manner = undefined;
  await site.enqueue("acme", max.acme);
  await site.enqueue("beta", max.beta);
  clock.advance(2 * minuteMs);
  await site.quiet();
  const after = countsOf(site, from);
  clock.advance(2 * freshMs);
  await site.quiet();
  clock.advance(2 * freshMs);
  await site.quiet();
  const waiting = await unsent(site);
  const done = `${total(accepted)} emails accepted, then ${refused} refused by both providers`;
  says("an email that a provider refuses uses nothing of the limits", done, [
    { measure: "refused", times: refused, figure: refused, bound: { least: acme + beta } },
    { measure: "taken_meanwhile", times: refused, figure: meanwhile, bound: none },
    { measure: "acme_used", times: refused, figure: used.acme, bound: { exactly: before.acme } },
    { measure: "beta_used", times: refused, figure: used.beta, bound: { exactly: before.beta } },
    ...upTo("acme_then", after.acme, max.acme),
    ...upTo("beta_then", after.beta, max.beta),
  ]);
  says(arrives, done, [{ measure: "unsent", times: total(after), figure: waiting, bound: none }]);
  console.log(
    `email: down accepted_before: acme=${accepted.acme} beta=${accepted.beta} refused=${refused} taken_meanwhile=${meanwhile} ` +
      `used_meanwhile: acme=${used.acme} beta=${used.beta} then: acme=${after.acme} beta=${after.beta} unsent=${waiting}`,
  );
};

const redisLost: Section = async (site, { flushes }, says) => {
  const { clock } = site;
  clock.advance(2 * freshMs);
  const from = clock.now();
  const [, , lost] = await Promise.all([
    site.enqueue("acme", 80),
    site.enqueue("beta", 260),
    flushAlong(site, from, flushes),
  ]);
  await site.quiet();
  const counts = countsOf(site, from);
  clock.advance(2 * freshMs);
  await site.quiet();
  clock.advance(2 * freshMs);
  await site.quiet();
  const waiting = await unsent(site);
  const done = `Redis lost all keys ${lost} times while they were sending`;
  says(limitsHold, done, [
    { measure: "losses", times: flushes, figure: lost, unit: "times", bound: { least: flushes } },
    { measure: "acme_at_most", times: counts.acme, figure: counts.acme, bound: { most: max.acme } },
    { measure: "beta_at_most", times: counts.beta, figure: counts.beta, bound: { most: max.beta } },
  ]);
  says(arrives, done, [{ measure: "unsent", times: total(counts), figure: waiting, bound: none }]);
  console.log(
    `email: redis_lost times=${lost} acme=${counts.acme} beta=${counts.beta} (at most 50, 200) unsent=${waiting}`,
  );
};

/** As the mails are sent, so that it is in the middle each time. Returns how often there was something to lose. */
async function flushAlong(site: Site, from: number, flushes: number): Promise<number> {
  let lost = 0;
  for (let i = 1; i <= flushes; i++) {
    await until("more to be taken", () => total(countsOf(site, from)) >= i * 20 || undefined, middleMs);
    // Just after the loss before, there may be nothing yet.
    const used = async () => (await site.used("acme", "smtp")) + (await site.used("beta", "sendgrid"));
    await until("Redis to count again", async () => (await used()) > 0 || undefined, middleMs);
    await site.redis.flush();
    lost++;
  }
  return lost;
}

const killed: Section = async (site, { kills: planned, killedMails }, says) => {
  const { clock, smtp, sendgrid, sql } = site;
  clock.advance(2 * freshMs);
  const from = clock.now();
  smtp.manners = { answerAfterMs: slowMs };
  sendgrid.answerAfterMs = slowMs;
  await site.enqueue("gamma", killedMails * 0.8);
  await site.enqueue("beta", killedMails * 0.2);
  let kills = 0;
  for (let i = 1; i <= planned; i++) {
    await until("more to be taken", () => total(countsOf(site, from)) >= i * 60 || undefined, middleMs);
    if (await site.kill()) kills++;
  }
  // The living must have sent what they claimed: the next step of the clock ends all claims.
  await calm(site);
  // What the dead process had claimed is taken back when the claim expires, and tried again a minute later.
  for (let i = 0; i < 3; i++) {
    clock.advance(2 * minuteMs);
    await site.quiet();
  }
  smtp.manners = {};
  sendgrid.answerAfterMs = 0;
  clock.advance(2 * freshMs);
  await site.quiet();
  const times = new Map<string, number>();
  for (const { messageId } of all(site).filter(({ at }) => at >= from)) {
    times.set(messageId, (times.get(messageId) ?? 0) + 1);
  }
  const sentTwice = [...times.values()].filter((count) => count === 2).length;
  const sentMore = [...times.values()].filter((count) => count > 2).length;
  const lost = killedMails - times.size + (await unsent(site));
  const { marked } = await acrossTenants(sql.db)
    .selectFrom("emails")
    .select((expression) => expression.fn.countAll<number>().as("marked"))
    .where("unsure", ">", 0)
    .executeTakeFirstOrThrow();
  const done = `${kills} × kill -9 of a process that was sending, ${sentTwice} between an email and its mark`;
  says("kill -9 sends at most one email twice, and loses none", done, [
    { measure: "kills", times: planned, figure: kills, unit: "kills", bound: { least: planned } },
    { measure: "marked", times: kills, figure: marked, bound: { least: Math.max(1, sentTwice) } },
    { measure: "sent_twice", times: times.size, figure: sentTwice, bound: { most: kills } },
    { measure: "kills_before_mark", times: kills, figure: sentTwice, unit: "kills", bound: { least: 1 } },
    { measure: "sent_more_often", times: times.size, figure: sentMore, bound: none },
    { measure: "lost", times: times.size, figure: lost, bound: none },
  ]);
  console.log(
    `email: killed kills=${kills} sent_twice=${sentTwice} (<=1 per kill) sent_more_often=${sentMore} ` +
      `lost=${lost} marked_as_unsure=${marked}`,
  );
};

/** Until no provider gets an email for a while. Those of dead processes stay claimed. */
async function calm(site: Site): Promise<void> {
  let [taken, since] = [-1, performance.now()];
  await until(
    "the living to be done",
    () => {
      if (all(site).length !== taken) [taken, since] = [all(site).length, performance.now()];
      return performance.now() - since > calmMs || undefined;
    },
    middleMs,
  );
}

const windows: Section = async (site, _sizes, says) => {
  const most = mostInAnHour(site, 0);
  const taken = all(site).length;
  says(limitsHold, "everything that the providers accepted, over all sections", [
    { measure: "acme_at_most", times: taken, figure: most.acme, bound: { most: max.acme } },
    { measure: "beta_at_most", times: taken, figure: most.beta, bound: { most: max.beta } },
    { measure: "platform_at_most", times: taken, figure: most.platform, bound: { most: max.platform } },
  ]);
  console.log(
    `email: windows taken=${taken} most_in_60_minutes: acme=${most.acme} beta=${most.beta} platform=${most.platform} (at most 50, 200, 2000)`,
  );
};

function arrivals({ smtp, sendgrid }: Site) {
  return { smtp: smtp.taken, sendgrid: sendgrid.taken };
}

const all = ({ smtp, sendgrid }: Site) => [...smtp.taken, ...sendgrid.taken];

const isOf = (tenant: TenantName) => (mail: { readonly to: string }) => mail.to.endsWith(`@${tenant}.example`);

/** Accepted since. */
function countsOf(site: Site, from: number): Record<TenantName, number> {
  const since = all(site).filter(({ at }) => at >= from);
  const count = (tenant: TenantName) => since.filter(isOf(tenant)).length;
  return { acme: count("acme"), beta: count("beta"), gamma: count("gamma") };
}

const total = (counts: Record<TenantName, number>): number => counts.acme + counts.beta + counts.gamma;

function mostInAnHour({ smtp, sendgrid }: Site, from: number) {
  const most = (mails: readonly { readonly at: number }[]) => {
    const times = mails
      .map(({ at }) => at)
      .filter((at) => at >= from)
      .sort((a, b) => a - b);
    let first = 0;
    let found = 0;
    for (const [i, at] of times.entries()) {
      while (at - (times[first] ?? at) >= hourMs) first++;
      found = Math.max(found, i - first + 1);
    }
    return found;
  };
  return { acme: most(smtp.taken.filter(isOf("acme"))), beta: most(sendgrid.taken), platform: most(smtp.taken) };
}

async function unsent({ sql }: Site): Promise<number> {
  const { count } = await acrossTenants(sql.db)
    .selectFrom("emails")
    .select((expression) => expression.fn.countAll<number>().as("count"))
    .where("state", "<>", "sent")
    .executeTakeFirstOrThrow();
  return count;
}
