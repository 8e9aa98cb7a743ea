/**
 * What people may do, changed by the API of one server while all servers are asked: a session is revoked, a member removed, a
 * role lowered, an API key revoked. Every server has answered the person before, and so has them in memory.
 */
import { type Site as E2eSite, siteOf } from "../../test/e2e/servers.ts";
import { type Browser, makePerson, openBrowser, type TestPerson } from "../../test/ground/people.ts";
import type { Claim } from "../proof.ts";
import type { Site } from "./site.ts";

interface Change {
  readonly name: string;
  /** Asked with the key, and no cookie. */
  readonly isOfKey?: true;
  /** A call that is answered before the change, and refused after it. */
  ask(person: Browser, key: string): Promise<number>;
  /** By the owner, or by the person themselves. */
  turn(owner: Browser, person: TestPerson, own: Browser, key: { readonly id: string }): Promise<number>;
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
    turn: async (owner, { id }) => (await owner.call("DELETE", `/api/members/${id}`)).status,
  },
  {
    name: "role_changed",
    // Refused before its body is looked at.
    ask: async (person) => (await person.call("POST", "/api/links", { workspace: "default", ...write })).status,
    turn: async (owner, { id }) =>
      (await owner.call("PATCH", `/api/members/${id}`, { body: { role: "viewer" } })).status,
  },
  {
    name: "key_revoked",
    isOfKey: true,
    ask: async (person, key) =>
      (await person.call("GET", "/api/links", { headers: { authorization: `Bearer ${key}` } })).status,
    turn: async (owner, _, __, { id }) => (await owner.call("DELETE", `/api/keys/${id}`)).status,
  },
];

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
  const owner = await makePerson(first, { roles: { default: "owner" } });
  const claims: Claim[] = [];
  for (const change of changes.filter(({ name }) => plays(name))) {
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
      promise: "what a person or key may do ends everywhere within the promise of an edit",
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
  const body = { name: "a proof", scopes: ["links:read"] };
  const key = (await chief.call("POST", "/api/keys", { body })).json<{ id: string; secret: string }>();
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
