/**
 * Guessing does not pay, and does not lock anybody out.
 *
 * Real servers, one on SQLite, and two on PostgreSQL and Redis that are asked in turn. An attacker guesses passwords from one
 * address and from hundreds, at one account and at many, and guesses tokens, codes of an app and recovery codes. What is admitted is compared with the bound that
 * docs/people.md names. While it goes on the owner signs in: with a browser that was used before, from an address that was
 * used that day, and with the first of the links that were mailed, although the attacker asked for more of them.
 */
import { randomBytes } from "node:crypto";
import { progress } from "../bench/show.ts";
import { triesPerAccount, triesPerNetworkAndHour, triesPerPair } from "../src/limits/account-attempts.ts";
import { mailsPerMailbox } from "../src/limits/mail-requests.ts";
import type { Reply } from "../test/e2e/servers.ts";
import type { Attempt, Claim, Proof } from "./proof.ts";
import { controls } from "./sign-in/controls.ts";
import { type Mode, password, type SignInSite, startSignInSite } from "./sign-in/site.ts";

const modes: readonly Mode[] = ["embedded", "scaled"];
const scenarios = { one, many, spray, tokens, codes, replay } as const;
type Scenario = keyof typeof scenarios;

export const signIn: Proof = {
  name: "sign-in",
  shows:
    "passwords, tokens and codes guessed from one and many addresses: few are admitted, and the owner gets in meanwhile",
  needs: ["postgresql", "redis-server"],
  controls,
  async run(attempt) {
    const shown = progress();
    for (const mode of modes) {
      const played = (Object.keys(scenarios) as Scenario[]).filter((name) => attempt.plays(`${mode}_${name}`));
      if (played.length === 0) continue;
      shown.now(`starting servers: ${mode}`);
      const site = await startSignInSite(mode);
      try {
        for (const name of played) {
          shown.now(`${mode}: ${name}`);
          await scenarios[name](site, attempt, `${mode}_${name}`);
        }
      } finally {
        shown.end();
        await site.stop();
      }
    }
  },
};

const promise = "guesses at an account are few, whoever makes them";
const owner = "an owner gets in while strangers use up all attempts at the account";

/** Not so many at once that the server refuses them for being busy, before they are counted. */
const atOnce = 8;

async function inTurns<Result>(count: number, ask: (i: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      results[i] = await ask(i);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

const guess = () => randomBytes(12).toString("base64url");
const addressOf = (i: number) => `198.18.${Math.floor(i / 250)}.${1 + (i % 250)}`;
const count = (replies: readonly Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

function says(attempt: Attempt, scenario: string) {
  return (claim: Omit<Claim, "scenario">) => {
    console.log(
      `scenario=${scenario} ${claim.measure}=${claim.figure} of=${claim.times} bound=${JSON.stringify(claim.bound)}`,
    );
    attempt.claim({ scenario, ...claim });
  };
}

/** One address at one account. */
async function one(site: SignInSite, attempt: Attempt, scenario: string): Promise<void> {
  const claim = says(attempt, scenario);
  const ann = await site.newPerson();
  const began = performance.now();
  const tries = attempt.short ? 60 : 300;
  const replies = await inTurns(tries, () =>
    site.ask("203.0.113.1", "/api/auth/sign-in", { email: ann.email, password: guess() }),
  );
  const isOneMinute = performance.now() - began < 55_000;
  claim({
    ...{ promise, measure: "admitted", done: `${tries} wrong passwords from one address, ${site.servers} servers` },
    ...{ times: replies.length, figure: count(replies, 401), unit: "tries" },
    bound: { most: triesPerPair[isOneMinute ? 0 : 1].max },
  });
  const [first] = replies.filter(({ status }) => status === 429);
  claim({
    ...{ promise: "who is refused is told when to try again", measure: "wait", done: "the first refusal" },
    ...{ times: first === undefined ? 0 : 1, figure: Number(first?.headers.get("retry-after")), unit: "s" },
    bound: { most: 15 * 60 + 15 },
  });
}

/** Hundreds of addresses at one account, while its owner signs in. */
async function many(site: SignInSite, attempt: Attempt, scenario: string): Promise<void> {
  const claim = says(attempt, scenario);
  const ann = await site.newPerson();
  const browser = site.browser();
  const home = { "x-forwarded-for": "203.0.113.77" };
  const right = { email: ann.email, password };
  const known = await browser.call("POST", "/api/auth/sign-in", { body: right, headers: home });
  if (known.status !== 200) throw new Error(`the owner could not sign in before the attack: ${known.text}`);

  const tries = attempt.short ? 150 : 1_500;
  const owners = { browser: [] as number[], network: [] as number[] };
  let isOver = false;
  const own = (async () => {
    while (!isOver || owners.browser.length < 3) {
      const headers = { "x-forwarded-for": addressOf(owners.browser.length) };
      owners.browser.push((await browser.call("POST", "/api/auth/sign-in", { body: right, headers })).status);
      owners.network.push((await site.ask("203.0.113.77", "/api/auth/sign-in", right)).status);
      await Bun.sleep(20);
    }
  })();
  const asked = await site.ask("203.0.113.200", "/api/auth/reset", { email: ann.email });
  if (asked.status !== 202) throw new Error(`no link could be asked for: ${asked.text}`);
  const [first] = await site.tokensFor(ann.email, 1);
  const replies = await inTurns(tries, (i) =>
    site.ask(addressOf(i), "/api/auth/sign-in", { email: ann.email, password: guess() }),
  );
  const resets = await inTurns(20, (i) => site.ask(addressOf(i), "/api/auth/reset", { email: ann.email }));
  isOver = true;
  await own;
  claim({
    ...{ promise, measure: "admitted", done: `${tries} wrong passwords from as many addresses` },
    ...{ times: replies.length, figure: count(replies, 401), unit: "tries", bound: { most: triesPerAccount[0].max } },
  });
  for (const [how, statuses] of Object.entries(owners)) {
    const succeeded = statuses.filter((status) => status === 200).length;
    claim({
      ...{ promise: owner, measure: `owner_by_${how}`, done: `${statuses.length} sign-ins during the attack` },
      ...{ times: statuses.length, figure: succeeded / statuses.length, bound: { exactly: 1 } },
    });
  }
  const mailed = await site.tokensFor(ann.email, mailsPerMailbox.hour);
  claim({
    ...{ promise: "a mailbox is not flooded", measure: "mails", done: `${count(resets, 202) + 1} links asked for` },
    ...{ times: resets.length, figure: mailed.length, unit: "mails", bound: { most: mailsPerMailbox.hour } },
  });
  const body = { token: first, password: "slate harbour 77 pine" };
  const used = await site.ask("203.0.113.201", "/api/auth/reset/complete", body);
  claim({
    ...{ promise: owner, measure: "owner_by_mail", done: "the first of the mailed links, after all others" },
    ...{ times: 1, figure: used.status === 200 ? 1 : 0, bound: { exactly: 1 } },
  });
}

/** One address at hundreds of accounts, some of which exist. */
async function spray(site: SignInSite, attempt: Attempt, scenario: string): Promise<void> {
  const claim = says(attempt, scenario);
  const real = await Promise.all(Array.from({ length: 10 }, () => site.newPerson()));
  const accounts = Array.from(
    { length: attempt.short ? 90 : 400 },
    (_, i) => real[i]?.email ?? `nobody${i}@example.com`,
  );
  const replies = await inTurns(accounts.length, (i) =>
    site.ask("203.0.113.3", "/api/auth/sign-in", { email: accounts[i], password: guess() }),
  );
  claim({
    ...{ promise, measure: "admitted", done: `${accounts.length} accounts tried from one address` },
    ...{ times: replies.length, figure: count(replies, 401), unit: "tries", bound: { most: triesPerNetworkAndHour } },
  });
  const admitted = replies.filter(({ status }) => status !== 429 && status !== 503);
  const answers = new Set(admitted.map(({ text }) => text.replace(/"requestId":"[^"]*"/, "")));
  claim({
    ...{ promise: "no answer tells whether an account exists", measure: "answers" },
    ...{ done: "accounts that exist and such that do not", times: admitted.length },
    ...{ figure: answers.size, unit: "different answers", bound: { exactly: 1 } },
  });
}

/** Tokens, guessed from one address and from many. */
async function tokens(site: SignInSite, attempt: Attempt, scenario: string): Promise<void> {
  const claim = says(attempt, scenario);
  const perMinute = 100;
  const token = () => randomBytes(32).toString("base64url");
  const paths = ["reset/complete", "verify", "sign-up/complete", "setup"];
  const ask = (address: string, i: number) =>
    site.ask(address, `/api/auth/${paths[i % 3]}`, {
      ...{ token: token() },
      ...(i % 3 === 0 && { password: "slate harbour 77 pine" }),
      ...(i % 3 === 2 && { password: "slate harbour 77 pine", name: "Mallory" }),
    });
  const tries = attempt.short ? 150 : 600;
  const began = performance.now();
  const replies = await inTurns(tries, (i) => ask("203.0.113.4", i));
  const minutes = 1 + Math.floor((performance.now() - began) / 60_000);
  claim({
    ...{ promise: "guesses at tokens are few", measure: "admitted", done: `${tries} tokens guessed from one address` },
    ...{ times: tries, figure: count(replies, 410), unit: "tries", bound: { most: perMinute * minutes } },
  });
  const others = await inTurns(tries, (i) => ask(addressOf(i), i));
  const all = [...replies, ...others];
  claim({
    ...{ promise: "no guessed token opens anything", measure: "opened" },
    ...{ done: `${all.length} tokens guessed, from one address and from ${tries}`, times: all.length },
    ...{ figure: all.filter(({ status }) => status < 400).length, bound: { exactly: 0 } },
  });
}

/** Somebody who knows the password guesses codes of the second factor, from one address and from hundreds. */
async function codes(site: SignInSite, attempt: Attempt, scenario: string): Promise<void> {
  const claim = says(attempt, scenario);
  const ann = await site.newPersonWithApp();
  const right = { email: ann.email, password };
  const browser = site.browser();
  const [known = "", ...others] = ann.recoveryCodes;
  /** From another address each time, so that only the browser is known. */
  const ownerSignsIn = async (code: string, i: number) => {
    const headers = { "x-forwarded-for": `198.19.0.${i}` };
    const first = await browser.call("POST", "/api/auth/sign-in", { body: right, headers });
    const body = { token: first.json<{ token: string }>().token, code };
    return (await browser.call("POST", "/api/auth/second-factor", { body, headers })).status;
  };
  if ((await ownerSignsIn(known, 1)) !== 200) throw new Error("the owner could not sign in before the attack");

  const { token } = (await site.ask("203.0.113.5", "/api/auth/sign-in", right)).json<{ token: string }>();
  const guesses = [() => ann.wrongCode(), () => randomBytes(10).toString("hex").slice(0, 16)];
  const tryCode = (address: string, i: number) =>
    site.ask(address, "/api/auth/second-factor", { token, code: guesses[i % guesses.length]?.() });
  const began = performance.now();
  const tries = attempt.short ? 60 : 300;
  const replies = await inTurns(tries, (i) => tryCode("203.0.113.5", i));
  const isOneMinute = performance.now() - began < 55_000;
  claim({
    ...{ promise, measure: "admitted_from_one", done: `${tries} wrong codes and recovery codes from one address` },
    ...{ times: tries, figure: count(replies, 403), unit: "tries" },
    bound: { most: triesPerPair[isOneMinute ? 0 : 1].max },
  });

  const statuses: number[] = [];
  const own = (async () => {
    for (const code of others.slice(0, 6)) statuses.push(await ownerSignsIn(code, 2 + statuses.length));
  })();
  const many = await inTurns(attempt.short ? 150 : 1_500, (i) => tryCode(addressOf(i), i));
  await own;
  for (const code of others.slice(6)) statuses.push(await ownerSignsIn(code, 2 + statuses.length));
  claim({
    ...{ promise, measure: "admitted", done: `${many.length} wrong codes from as many addresses` },
    ...{ times: many.length, figure: count([...replies, ...many], 403), unit: "tries" },
    bound: { most: triesPerAccount[0].max },
  });
  claim({
    ...{
      promise: owner,
      measure: "owner_by_browser",
      done: `${statuses.length} sign-ins with a code during and after the attack`,
    },
    ...{ times: statuses.length, bound: { exactly: 1 } },
    figure: statuses.filter((status) => status === 200).length / statuses.length,
  });
}

/** The right code and a recovery code, each sent by many at once. */
async function replay(site: SignInSite, attempt: Attempt, scenario: string): Promise<void> {
  const claim = says(attempt, scenario);
  const ann = await site.newPersonWithApp();
  const right = { email: ann.email, password };
  const stolen = { app: ann.rightCode(), recovery: ann.recoveryCodes[0] ?? "" };
  for (const [kind, code] of Object.entries(stolen)) {
    // Below the limits on wrong tries, so that each is looked at.
    const addresses = Array.from({ length: 10 }, (_, i) => addressOf(i + (kind === "app" ? 0 : 10)));
    const steps = await Promise.all(addresses.map((address) => site.ask(address, "/api/auth/sign-in", right)));
    const replies = await Promise.all(
      steps.map((step, i) => {
        const { token } = step.json<{ token: string }>();
        return site.ask(addresses[i] ?? "", "/api/auth/second-factor", { token, code });
      }),
    );
    claim({
      ...{ promise: "a code works once", measure: `accepted_${kind}`, done: `${replies.length} requests at once` },
      ...{ times: replies.length, figure: count(replies, 200), bound: { exactly: 1 } },
    });
  }
}
