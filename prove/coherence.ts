/**
 * An edit is soon visible everywhere, and no server goes back.
 *
 * Three servers share one PostgreSQL and one Redis. Visitors ask all of them for the same few links, all the time,
 * while those are edited; the version of a link is in its destination. `record.ts` defines staleness, going back and a
 * wrong answer; `judge.ts` makes claims of them. The scenarios (`phases.ts`):
 *
 * - woken: a change wakes the others
 * - not_woken: Redis allows no subscriptions
 * - importing: the operator imports links as fast as PostgreSQL takes them
 * - overlapping: an edit commits after another one that began later
 * - redis_went_back: Redis is killed, and returns with data from many edits ago, and a server starts
 * - writer_killed: a server is killed between its commit and its answer, so that it cannot announce the change
 * - created_and_deleted: links are requested before they exist, created, deleted and restored (`switches.ts`)
 * - link_suspended, tenant_suspended, limit_changed, plan_changed, plan_edited: by the operator's commands
 * - session_revoked, member_removed, role_changed, key_revoked, workspace_suspended, workspace_plan, plan_limits: what a person,
 *   a key or a workspace may do (`people.ts`)
 * - late_reader: an old version is written to Redis after the edit, and a server starts (`late-reader.ts`)
 *
 * And what deleting the key and letting the next reader fill it would have left behind, on the same stores.
 *
 * Promised: 100 ms for 99 of 100 edits while servers are woken, 3 s otherwise; the server that accepted an edit serves
 * it with its next answer; no going back, no wrong answer.
 */
import { progress } from "../bench/show.ts";
import { controls } from "./coherence/controls.ts";
import { claimsOf, figuresOf, type Rules } from "./coherence/judge.ts";
import { lateReader, readLate } from "./coherence/late-reader.ts";
import { changePeople, peopleChanges } from "./coherence/people.ts";
import { type Amounts, phases, usually, whenWoken } from "./coherence/phases.ts";
import { createRecord } from "./coherence/record.ts";
import { seedPolicy, trySeedPolicy } from "./coherence/seed-policy.ts";
import { type Site, serverCount, startSite } from "./coherence/site.ts";
import { commands, creation, flip } from "./coherence/switches.ts";
import { visit } from "./coherence/traffic.ts";
import type { Attempt, Proof } from "./proof.ts";

export const coherence: Proof = {
  name: "coherence",
  shows: "3 servers, edits under constant reads: seen everywhere in time, and no server goes back",
  needs: ["postgresql", "redis-server"],
  options: ["edits"],
  controls,
  run,
};

/** Until the last acknowledged edit must have been seen, plus a margin. */
const afterwardsMs = 3_500;
const createdLinks = 12;
/** For 99 of 100 changes while servers are woken, and for all. */
const wokenMs = 100;
const promisedMs = 3_000;

/** For a short run: a hundredth of a few edits is one edit, which the machine may delay by itself. */
const lenientOf = (rules: Rules): Rules => ({ ...rules, p99Ms: rules.maxMs, unansweredMost: 0.1 });

type Shown = ReturnType<typeof progress>;

async function run(attempt: Attempt): Promise<void> {
  const shown = progress();
  shown.now("starting PostgreSQL, Redis and three servers");
  const site = await startSite();
  try {
    await editsAreSeen(attempt, site, shown);
    await switchesAreSeen(attempt, site, shown);
    if (peopleChanges.some(attempt.plays)) {
      shown.now("people");
      const promised = {
        times: attempt.short ? 3 : 40,
        p99Ms: attempt.short ? promisedMs : wokenMs,
        maxMs: promisedMs,
      };
      for (const claim of await changePeople(site, attempt.plays, promised)) attempt.claim(claim);
    }
    if (attempt.plays(lateReader)) {
      shown.now(lateReader);
      for (const claim of await readLate(site, attempt.short ? 1 : 3)) attempt.claim(claim);
    }
    if (attempt.plays(seedPolicy)) {
      shown.now(seedPolicy);
      attempt.claim(await trySeedPolicy(site.databaseUrl, site.redis.url));
    }
  } finally {
    shown.end();
    await site.stop();
  }
}

/** Each phase: runs it, waits until everything must have been seen, claims what visitors of every server saw. */
async function editsAreSeen(attempt: Attempt, site: Site, shown: Shown): Promise<void> {
  const all = attempt.options.get("edits") ?? (attempt.short ? 400 : 2_000);
  const amounts: Amounts = {
    ...{ edits: all, fewer: Math.ceil(0.3 * all), few: Math.ceil(0.08 * all) },
    ...(attempt.short ? { kills: 2, overlaps: 3 } : { kills: 5, overlaps: 24 }),
  };
  const lenient = attempt.short ? lenientOf : (rules: Rules) => rules;
  const chosen = phases.filter(({ name }) => attempt.plays(name));
  const record = createRecord(serverCount);
  const visitors = visit(site, record);
  try {
    for (const { name, rules, edits, work } of chosen) {
      const planned = edits(amounts);
      const more = await work(site, record, planned, (done) => shown.now(`${name}: ${done} of ${planned} edits`));
      await Bun.sleep(afterwardsMs);
      const observed = record.conclude().map((recorded, server) => ({ recorded, rules: lenient(rules(server)) }));
      for (const [server, one] of observed.entries()) console.log(figuresOf(`${name} server=${server}`, one));
      for (const claim of [...claimsOf(name, planned, observed), ...more]) attempt.claim(claim);
    }
  } finally {
    await visitors.stop();
  }
}

async function switchesAreSeen(attempt: Attempt, site: Site, shown: Shown): Promise<void> {
  const byApi = {
    ...creation(site, createdLinks),
    rules: attempt.short ? usually : whenWoken,
    times: attempt.short ? 2 : 10,
  };
  // The command line does not wake servers, and is none.
  const byCommand = {
    rules: { ...(attempt.short ? lenientOf(usually) : usually), ownAtOnce: false },
    times: attempt.short ? 1 : 3,
  };
  const chosen = [byApi, ...commands(site).map((one) => ({ ...one, ...byCommand }))].filter(({ name }) =>
    attempt.plays(name),
  );
  for (const { rules, times, ...one } of chosen) {
    shown.now(one.name);
    const recorded = await flip(site, one, times, afterwardsMs);
    const observed = recorded.map((figures) => ({ recorded: figures, rules }));
    for (const [server, each] of observed.entries()) console.log(figuresOf(`${one.name} server=${server}`, each));
    for (const claim of claimsOf(one.name, 2 * times * one.links.length, observed)) attempt.claim(claim);
  }
}
