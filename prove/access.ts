/**
 * Nobody reaches what their role, or the scopes of their key, do not allow, and nobody anything of another workspace.
 *
 * Every route of the server's own document is called by everybody (`access/callers.ts`), in their own workspace and in a
 * foreign one, and compared with a table that was written by hand (`access/expected.ts`). A route that is in only one of
 * the two is unlisted, so a new one cannot be forgotten. The scenarios:
 *
 * Each is played on SQLite, and as `scaled_…` on PostgreSQL and Redis.
 *
 * - own: in the workspace of the caller. Who may is let in: the call fails later, because its body or its ID is no good. Who may
 *   not is refused, and nothing in the database changes.
 * - foreign_workspace: people name a workspace they are not in.
 * - foreign_things: callers who may do it at home name something of another workspace. It does not exist for them.
 */
import { accessOfPath } from "../src/http/route.ts";
import { query, type Reply, type Site, startSite } from "../test/e2e/servers.ts";
import { startRedis } from "../test/ground/redis.ts";
import { allCallers, type Caller, isAllowed } from "./access/callers.ts";
import { controls } from "./access/controls.ts";
import { expected, type Who } from "./access/expected.ts";
import { bodies, hasThing, pathOfThing } from "./access/things.ts";
import type { Attempt, Claim, Proof } from "./proof.ts";

export const access: Proof = {
  name: "access",
  shows: "every route × every role and scope × own and foreign workspace: nobody gets in who may not",
  needs: ["postgresql", "redis-server"],
  controls,
  async run(attempt) {
    await played(attempt, "", () => startSite("SQLite", settings));
    const plays = (name: string) => attempt.plays(`${scaled}${name}`);
    if (!scenarios.some(plays)) return;
    const redis = await startRedis();
    try {
      await played(attempt, scaled, () => startSite("PostgreSQL", { ...settings, REDIS_URL: redis.url }));
    } finally {
      await redis.stop();
    }
  },
};

const settings = { QL_WORKSPACES: "everyone" };
const scaled = "scaled_";
const scenarios = ["own", "foreign_workspace", "foreign_things", "table"] as const;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly title: string;
  readonly who: Who;
}

interface Cells {
  cells: number;
  leaks: number;
  /** Refused although they may. */
  shut: number;
}

/** After these the caller is signed out. */
const endsSession = new Set(["DELETE /api/account/session", "DELETE /api/account/sessions", "DELETE /api/account"]);
/** Not an ID of anything. */
const noId = "nothing-has-this-id";
const home = "home";
const away = "away";

/** `prefix`: of the names of scenarios. */
async function played(whole: Attempt, prefix: string, start: () => Promise<Site>): Promise<void> {
  const attempt: Attempt = {
    ...whole,
    plays: (name) => whole.plays(`${prefix}${name}`),
    claim: ({ scenario, ...rest }) => whole.claim({ ...rest, scenario: `${prefix}${scenario}` }),
  };
  if (!scenarios.some(attempt.plays)) return;
  const site = await start();
  try {
    const homeKey = await site.tenant(home);
    const awayKey = await site.tenant(away);
    await site.tenant("elsewhere");
    const { routes, unlisted } = await listed(site);
    const callers = await allCallers(site, home);
    const all: Cells = { cells: 0, leaks: 0, shut: 0 };
    const add = ({ cells, leaks, shut }: Cells) => {
      Object.assign(all, { cells: all.cells + cells, leaks: all.leaks + leaks, shut: all.shut + shut });
    };
    if (attempt.plays("own")) add(await own(attempt, site, routes, callers));
    if (attempt.plays("foreign_workspace")) add(await foreignWorkspace(attempt, site, routes, callers));
    if (attempt.plays("foreign_things")) {
      add(await foreignThings(attempt, site, routes, callers, { home: homeKey, away: awayKey }));
    }
    if (attempt.plays("table")) claimTable(attempt, routes.length, unlisted);
    console.log(`  ${prefix}cells=${all.cells} leaks=${all.leaks} unlisted=${unlisted.length}`);
  } finally {
    await site.server.stop();
  }
}

/** The routes of the document, and those that only one of the two lists has. */
async function listed(site: Site): Promise<{ routes: Route[]; unlisted: string[] }> {
  const { paths } = (await site.visit("/openapi.json")).json<{ paths: Record<string, Record<string, unknown>> }>();
  const titles = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path,
      title: `${method.toUpperCase()} ${path}`,
    })),
  );
  const known = new Set(titles.map(({ title }) => title));
  const isUnlisted = ({ title, path }: { title: string; path: string }) =>
    !expected.has(title) || (accessOfPath(path) === "workspace" && path.includes("{") && !hasThing(path));
  const unlisted = [
    ...titles.filter(isUnlisted).map(({ title }) => title),
    ...[...expected.keys()].filter((title) => !known.has(title)),
  ];
  for (const title of unlisted) console.log(`  unlisted: ${title}`);
  const routes = titles.flatMap((route) => {
    const who = expected.get(route.title);
    return who === undefined ? [] : [{ ...route, who }];
  });
  return { routes, unlisted };
}

const codeOf = (reply: Reply): string =>
  reply.status < 400 || !reply.text.startsWith("{") ? "" : reply.json<{ code: string }>().code;

/** Strangers do not learn whether a workspace exists. */
function isRefused({ isMember }: Caller, { who }: Route, code: string): boolean {
  if (code === "unauthorized" || code === "forbidden") return true;
  const isOfWorkspace = who !== "signed in" && who !== "operators" && who !== "everybody";
  return isOfWorkspace && !isMember && (code === "not_found" || code === "workspace_required");
}

async function own(attempt: Attempt, site: Site, routes: readonly Route[], callers: readonly Caller[]): Promise<Cells> {
  const count: Cells = { cells: 0, leaks: 0, shut: 0 };
  const before = await everythingIn(site);
  const changed: Route[] = [];
  for (const mayCall of [false, true]) {
    for (const route of routes) {
      for (const caller of callers.filter((one) => isAllowed(one, route.who) === mayCall)) {
        const path = route.path.replace(/\{\w+\}/g, noId);
        // No field that any route knows: who is let in gets no further than that.
        const isFresh = mayCall && endsSession.has(route.title);
        const code = codeOf(await caller.call(route.method, path, { [noId]: true }, home, isFresh));
        count.cells++;
        if (isRefused(caller, route, code) === !mayCall) continue;
        console.log(`  ${mayCall ? "shut" : "leak"}: ${route.title} for ${caller.name}: ${code}`);
        if (mayCall) count.shut++;
        else count.leaks++;
      }
    }
    if (!mayCall && (await everythingIn(site)) !== before) changed.push(...routes);
  }
  const about = { scenario: "own", done: `${routes.length} routes by ${callers.length} callers`, times: count.cells };
  claim(attempt, { ...about, measure: "leaks", figure: count.leaks });
  claim(attempt, { ...about, measure: "shut", figure: count.shut });
  claim(attempt, { ...about, measure: "changed", figure: changed.length > 0 ? 1 : 0 });
  return count;
}

async function foreignWorkspace(attempt: Attempt, site: Site, routes: readonly Route[], callers: readonly Caller[]) {
  const count: Cells = { cells: 0, leaks: 0, shut: 0 };
  const before = await everythingIn(site);
  const people = callers.filter(({ kind }) => kind === "person");
  const ofWorkspace = routes.filter(({ path }) => accessOfPath(path) === "workspace");
  for (const route of ofWorkspace) {
    for (const caller of people) {
      const reply = await caller.call(
        route.method,
        route.path.replace(/\{\w+\}/g, noId),
        bodies[route.title],
        away,
        false,
      );
      count.cells++;
      if (codeOf(reply) === "not_found") continue;
      console.log(`  leak: ${route.title} of a foreign workspace for ${caller.name}: ${reply.status}`);
      count.leaks++;
    }
  }
  const changed = (await everythingIn(site)) === before ? 0 : 1;
  const about = { scenario: "foreign_workspace", done: `${ofWorkspace.length} routes by ${people.length} people` };
  claim(attempt, { ...about, times: count.cells, measure: "leaks", figure: count.leaks });
  claim(attempt, { ...about, times: count.cells, measure: "changed", figure: changed });
  return count;
}

async function foreignThings(
  attempt: Attempt,
  site: Site,
  routes: readonly Route[],
  callers: readonly Caller[],
  keys: { readonly home: string; readonly away: string },
): Promise<Cells> {
  const count: Cells = { cells: 0, leaks: 0, shut: 0 };
  const withThing = routes.filter(({ path, who }) => hasThing(path) && who !== "operators" && who !== "everybody");
  const calls = await Promise.all(
    withThing.map(async (route) => ({ route, path: (await pathOfThing(site, route.path, keys.away, away)) ?? "" })),
  );
  const before = await everythingIn(site);
  for (const { route, path } of calls) {
    for (const caller of callers.filter((one) => isAllowed(one, route.who))) {
      const reply = await caller.call(route.method, path, bodies[route.title], home, false);
      count.cells++;
      if (reply.status === 404 || reply.status === 422) continue;
      console.log(`  leak: ${route.title} of another workspace for ${caller.name}: ${reply.status}`);
      count.leaks++;
    }
  }
  const changed = (await everythingIn(site)) === before ? 0 : 1;
  // The same things at home are found: otherwise nothing was tried.
  let found = 0;
  const gets = withThing.filter(({ method, path }) => method === "GET" && accessOfPath(path) === "workspace");
  for (const route of gets) {
    const path = (await pathOfThing(site, route.path, keys.home, home)) ?? "";
    const { status } = await site.call("GET", path, { key: keys.home });
    if (status !== 404) found++;
  }
  const about = { scenario: "foreign_things", done: `${withThing.length} routes by all who may call them at home` };
  claim(attempt, { ...about, times: count.cells, measure: "leaks", figure: count.leaks });
  claim(attempt, { ...about, times: count.cells, measure: "changed", figure: changed });
  claim(attempt, { ...about, times: gets.length, measure: "lost_at_home", figure: gets.length - found });
  return count;
}

function claimTable(attempt: Attempt, routes: number, unlisted: readonly string[]): void {
  const about = { scenario: "table", measure: "unlisted", done: `${routes} routes of the server's own document` };
  claim(attempt, { ...about, times: routes, figure: unlisted.length });
}

const promise = "nobody reaches what their role, their key or their workspace does not allow";

const claim = (attempt: Attempt, given: Omit<Claim, "promise" | "bound">): void =>
  attempt.claim({ promise, ...given, bound: { exactly: 0 } });

/** All that a call could change, except what refused calls may too: when somebody was last seen. */
async function everythingIn(site: Site): Promise<string> {
  const people = await query(site.env, "select id, name, email, operator, disabled_at, totp from people order by id");
  const tables = ["members", "invitations", "plans", "abuse_reports", "suspended_tenants", "trashed_links", "passkeys"];
  tables.push("annotations", "utm_templates", "branding", "stats_shares");
  const more = [];
  for (const table of tables) more.push(await query(site.env, `select * from ${table}`));
  const tenants = await query(site.env, "select id, name, delete_at from tenants order by id");
  const sessions = await query(site.env, "select count(*) as n from sessions");
  // A version may be raised for nothing.
  const { changes: _, ...rows } = await site.rows();
  return JSON.stringify([rows, people, more, tenants, sessions]);
}
