/**
 * What people and keys may do, changed by the API of one server while all servers are asked: a session is revoked, a member
 * removed, a role lowered, an API key revoked; a workspace is suspended or gets another plan, and a plan other limits. Every
 * server has answered before, and so has them in memory.
 */

import { defaultLimits, type Limits } from "../../src/tenants/tenants.ts";
import { type Site as E2eSite, siteOf } from "../../test/e2e/servers.ts";
import { type Browser, makePerson, openBrowser, type TestPerson } from "../../test/ground/people.ts";
import type { Claim } from "../proof.ts";
import type { Site } from "./site.ts";

interface Change {
  readonly name: string;
  /** Asked with the key, and no cookie. */
  readonly isOfKey?: true;
  /** A call that is answered before the change, and refused after it. A limit that has changed counts as a refusal. */
  ask(person: Browser, key: string): Promise<number>;
  /** By the owner, or by the person themselves. */
  turn(owner: Browser, person: TestPerson, own: Browser, key: Key): Promise<number>;
}

interface Key {
  readonly id: string;
  /** Its workspace, and the plan of that. No other turn has the same. */
  readonly workspace: string;
}

const write = { body: { not_a_field: true } };

const changes: readonly Change[] = [
  {
    name: "session_revoked",
    ask: async (person) => (await person.call("GET", "/api/account")).status,
    turn: async (_, person, own) => (await own.call("DELETE", `/api/account/sessions/${person.session}`)).status,
  },
  {
    name: "member_removed",
    ask: async (person) => (await person.call("GET", "/api/workspace", { workspace: "default" })).status,
    turn: async (owner, { id }) => (await owner.call("DELETE", `/api/members/${id}`, { workspace: "default" })).status,
  },
  {
    name: "role_changed",
    // Refused before its body is looked at.
    ask: async (person) => (await person.call("POST", "/api/links", { workspace: "default", ...write })).status,
    turn: async (owner, { id }) =>
      (await owner.call("PATCH", `/api/members/${id}`, { workspace: "default", body: { role: "viewer" } })).status,
  },
  {
    name: "key_revoked",
    isOfKey: true,
    ask: async (person, key) =>
      (await person.call("GET", "/api/links", { headers: { authorization: `Bearer ${key}` } })).status,
    turn: async (owner, _, __, { id, workspace }) =>
      (await owner.call("DELETE", `/api/keys/${id}`, { workspace })).status,
  },
  {
    name: "workspace_suspended",
    isOfKey: true,
    ask: async (person, key) => (await asKey(person, key)).status,
    turn: async (owner, _, __, { workspace }) => {
      const path = `/api/operator/workspaces/${workspace}/suspension`;
      return (await owner.call("PUT", path, { body: { reason: "a proof" } })).status;
    },
  },
  {
    name: "workspace_plan",
    isOfKey: true,
    ask: askForLimit,
    turn: async (owner, _, __, { workspace }) =>
      (await owner.call("PATCH", `/api/operator/workspaces/${workspace}`, { body: { plan: "unlimited" } })).status,
  },
  {
    name: "plan_limits",
    isOfKey: true,
    ask: askForLimit,
    turn: async (owner, _, __, { workspace }) => (await setPlan(owner, workspace, 4)).status,
  },
];

const firstLimit = 3;

const asKey = (person: Browser, key: string) =>
  person.call("GET", "/api/tenant", { headers: { authorization: `Bearer ${key}` } });

async function askForLimit(person: Browser, key: string): Promise<number> {
  const answer = await asKey(person, key);
  if (answer.status !== 200) throw new Error(`the workspace could not be read: ${answer.status}`);
  const { limits } = answer.json<{ limits: Limits }>();
  return limits.hitsPerLinkPerMonth === firstLimit ? 200 : 403;
}

const setPlan = (owner: Browser, name: string, hitsPerLinkPerMonth: number) =>
  owner.call("PUT", `/api/operator/plans/${name}`, {
    body: { ...defaultLimits, apiPerMinute: null, hitsPerLinkPerMonth },
  });

/** A workspace with a plan and a key of its own. */
async function makeKey(owner: Browser): Promise<Key & { readonly secret: string }> {
  const workspace = `proof-${++workspaces}`;
  const all = [
    await setPlan(owner, workspace, firstLimit),
    await owner.call("POST", "/api/account/workspaces", { body: { slug: workspace, name: workspace } }),
    await owner.call("PATCH", `/api/operator/workspaces/${workspace}`, { body: { plan: workspace } }),
  ];
  const refused = all.find(({ status }) => status >= 300);
  if (refused !== undefined) throw new Error(`no workspace: ${refused.status} ${refused.text}`);
  const body = { name: "a proof", scopes: ["links:read", "usage:read"] };
  const key = (await owner.call("POST", "/api/keys", { body, workspace })).json<{ id: string; secret: string }>();
  return { ...key, workspace };
}

let workspaces = 0;

export const peopleChanges = changes.map(({ name }) => name);

const refusals = new Set([401, 403, 404]);
const giveUpMs = 10_000;
const pauseMs = 2;

export async function changePeople(
  site: Site,
  plays: (name: string) => boolean,
  { times, p99Ms, maxMs }: { readonly times: number; readonly p99Ms: number; readonly maxMs: number },
): Promise<Claim[]> {
  const sites = site.servers.map((server) => siteOf(server, { DATABASE_URL: site.databaseUrl }));
  const [first] = sites;
  if (first === undefined) throw new Error("there is no server");
  const claims: Claim[] = [];
  for (const change of changes.filter(({ name }) => plays(name))) {
    // A person may have a hundred workspaces.
    const owner = await makePerson(first, { roles: { default: "owner" }, operator: true });
    const seen: number[] = [];
    let afterOwn = 0;
    for (let turn = 0; turn < times; turn++) {
      const { others, own } = await once(sites, owner, change, turn % sites.length);
      seen.push(...others);
      afterOwn += own;
    }
    const sorted = seen.toSorted((a, b) => a - b);
    const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
    const max = sorted.at(-1) ?? Number.NaN;
    console.log(
      `${change.name} times=${times} p99_ms=${p99.toFixed(1)} max_ms=${max.toFixed(1)} own_after=${afterOwn}`,
    );
    const about = {
      promise: "what a person, key or workspace may do ends everywhere within the promise of an edit",
      ...{ scenario: change.name, done: `${times} changes, asked on ${sites.length} servers`, times: seen.length },
    };
    claims.push({ ...about, measure: "p99_ms", figure: p99, unit: "ms", bound: { most: p99Ms } });
    claims.push({ ...about, measure: "max_ms", figure: max, unit: "ms", bound: { most: maxMs } });
    claims.push({ ...about, measure: "own_after", figure: afterOwn, bound: { exactly: 0 } });
  }
  return claims;
}

/** How long the other servers let the caller in, and how many answers the one that accepted the change gave. */
async function once(sites: readonly E2eSite[], owner: TestPerson, { ask, turn, isOfKey }: Change, writer: number) {
  const [first] = sites as readonly [E2eSite];
  const person = await makePerson(first, { roles: { default: "member" } });
  const browsers = sites.map((site) => at(site, person));
  const owners = sites.map((site) => at(site, owner));
  const chief = owners[writer] as Browser;
  const key = isOfKey ? await makeKey(chief) : { id: "", workspace: "", secret: "" };
  const keyed = sites.map((site) => openBrowser(site));
  const askOf = (server: number) => ask((isOfKey ? keyed : browsers)[server] as Browser, key.secret);
  for (const server of sites.keys()) {
    const status = await askOf(server);
    if (refusals.has(status)) throw new Error(`server ${server} refused before the change: ${status}`);
  }
  const status = await turn(chief, person, browsers[writer] as Browser, key);
  if (status >= 300) throw new Error(`the change was refused: ${status}`);
  const acked = performance.now();
  const own = refusals.has(await askOf(writer)) ? 0 : 1;
  const others = await Promise.all(
    [...sites.keys()].map(async (server) => {
      for (;;) {
        const asked = performance.now();
        if (refusals.has(await askOf(server))) return Math.max(0, asked - acked);
        if (asked - acked > giveUpMs) return giveUpMs;
        await Bun.sleep(pauseMs);
      }
    }),
  );
  return { others, own };
}

/** The same session in a browser that talks to this server. */
function at(site: E2eSite, person: TestPerson): Browser {
  const browser = openBrowser(site);
  for (const [name, value] of person.cookies) browser.cookies.set(name, value);
  return browser;
}
