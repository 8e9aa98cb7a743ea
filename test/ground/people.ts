/** People for tests: an account with roles and a session, and a client that sends what a browser sends. */
import { createHash, randomBytes } from "node:crypto";
import { systemClock } from "../../src/base/clock.ts";
import { newId, type PersonId, type SessionId } from "../../src/base/ids.ts";
import { mailboxOf } from "../../src/people/person.ts";
import type { Role } from "../../src/people/roles.ts";
import { type CallOptions, query, type Reply, type Site } from "../e2e/servers.ts";

export type NewPerson = {
  email?: string;
  name?: string;
  /** Hashed cheaply. Without one, the person has no password. */
  password?: string;
  /** Default: verified. */
  verified?: boolean;
  operator?: boolean;
  /** By the slug of the workspace, which exists. */
  roles?: Readonly<Record<string, Role>>;
};

export type BrowserOptions = Omit<CallOptions, "key"> & {
  /** The header `QL-Workspace`. */
  workspace?: string;
  /** The header `Origin`; default: that of the server. Null for none. */
  origin?: string | null;
};

export type Browser = {
  /** Sends the cookies that the server has set, and the server's own origin. */
  call(method: string, path: string, options?: BrowserOptions): Promise<Reply>;
  /** By name. Change it to do what a browser would not. */
  readonly cookies: Map<string, string>;
};

export type TestPerson = Browser & {
  readonly id: PersonId;
  readonly email: string;
  readonly session: SessionId;
};

const sessionCookie = "quicklink-session";
const hourMs = 3_600_000;
const cheap = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;
const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";

/** Writes to the database behind the server's back: only for people that no server has heard of yet. */
export async function makePerson(site: Site, person: NewPerson = {}): Promise<TestPerson> {
  const now = systemClock.now();
  const id = newId("person", systemClock);
  const session = newId("session", systemClock);
  const email = person.email ?? `${id.slice(-12)}@example.com`;
  const hash = person.password === undefined ? "null" : text(await Bun.password.hash(person.password, cheap));
  await query(
    site.env,
    `insert into people (id, email, mailbox, name, password_hash, verified_at, operator, created_at) values (${text(id)},
     ${text(email)}, ${text(mailboxOf(email) ?? email)}, ${text(person.name ?? "Ann Example")}, ${hash},
     ${person.verified === false ? "null" : now}, ${person.operator ? 1 : 0}, ${now})`,
  );
  for (const [slug, role] of Object.entries(person.roles ?? {})) {
    await query(
      site.env,
      `insert into members (tenant_id, person_id, role, created_at)
       select id, ${text(id)}, ${text(role)}, ${now} from tenants where slug = ${text(slug)}`,
    );
  }
  const secret = randomBytes(32).toString("base64url");
  await query(
    site.env,
    `insert into sessions (id, person_id, hash, method, device, created_at, proved_at, seen_at, idle_ms, expires_at)
     values (${text(session)}, ${text(id)}, ${text(createHash("sha256").update(secret).digest("hex"))}, 'password',
     'Firefox on Linux', ${now}, ${now}, ${now}, ${hourMs}, ${now + hourMs})`,
  );
  const browser = openBrowser(site);
  browser.cookies.set(sessionCookie, `${id}.${secret}`);
  return { ...browser, id, email, session };
}

/** A browser in which nobody is signed in. */
export function openBrowser(site: Site): Browser {
  const cookies = new Map<string, string>();

  async function call(method: string, path: string, options: BrowserOptions = {}): Promise<Reply> {
    const { workspace, origin = originOf(site), headers = {}, ...rest } = options;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await site.call(method, path, {
      ...rest,
      key: null,
      headers: {
        "user-agent": agent,
        ...(cookie === "" ? {} : { cookie }),
        ...(workspace === undefined ? {} : { "ql-workspace": workspace }),
        ...(origin === null ? {} : { origin }),
        ...headers,
      },
    });
    for (const set of reply.headers.getSetCookie()) keep(cookies, set);
    return reply;
  }

  return { call, cookies };
}

/** What the server calls itself. */
export const originOf = ({ server, env }: Site): string =>
  new URL(env.QL_BASE_URL ?? `http://localhost:${server.port}`).origin;

function keep(cookies: Map<string, string>, set: string): void {
  const [, name = "", value = ""] = /^([^=;]+)=([^;]*)/.exec(set) ?? [];
  if (/; *Max-Age=0(?:;|$)/i.test(set)) cookies.delete(name);
  else cookies.set(name, value);
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
