import type { Context, MiddlewareHandler } from "hono";
import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Membership } from "../people/access.ts";
import type { Sessions, SignedIn } from "../people/sessions.ts";
import type { Keys } from "../tenants/keys.ts";
import type { Tenant, Tenants } from "../tenants/tenants.ts";
import { accessOfPath, type CallingKey, type CallingPerson, type RouteEnv } from "./route.ts";
import type { SessionCookie } from "./session-cookie.ts";

/**
 * Authenticates the caller: a program by `Authorization: Bearer ql_…`, a person by the cookie of their session. Each route
 * checks what the caller may do.
 *
 * An invalid key counts as a guess. After too many, the address must wait. A valid key still works from there: 256 bits
 * cannot be guessed, and a neighbour behind the same address must not lock a tenant out. The same holds for sessions.
 *
 * Browsers send cookies with requests that other sites cause. `SameSite` keeps most of them back; every write must also
 * come from our own origin.
 */
export interface AuthSettings {
  readonly keys: Pick<Keys, "authenticate">;
  readonly sessions: Pick<Sessions, "authenticate">;
  readonly tenants: Pick<Tenants, "byId">;
  readonly guesses: Guesses;
  readonly cookie: SessionCookie;
  readonly baseUrl: string;
  /** QL_BASE_URL is not set: people open the dashboard by whatever name this machine has in their network. */
  readonly anyHost: boolean;
}

/** Names the workspace of a call by its slug or ID. */
export const workspaceHeader = "QL-Workspace";

export interface Authentication {
  readonly first: MiddlewareHandler<RouteEnv>;
  /**
   * Once the body is there, if it took its time: a caller who was removed meanwhile, or whose key was revoked, must not finish
   * what they held back.
   */
  again(c: Context<RouteEnv>): Promise<void>;
}

export function createAuthentication(settings: AuthSettings): Authentication {
  const { keys, sessions, tenants, guesses, cookie, anyHost } = settings;
  const own: OwnOrigin = { origin: new URL(settings.baseUrl).origin, anyHost };

  async function guessed(c: Context<RouteEnv>, detail: string): Promise<Problem> {
    const retryAfterSeconds = await guesses.missed(c.env.address);
    if (retryAfterSeconds === undefined) return new Problem("unauthorized", detail);
    const wait = `Too many invalid API keys from your IP address. Check your key and try again in ${retryAfterSeconds} s.`;
    return new Problem("too_many_guesses", wait, { retryAfterSeconds });
  }

  async function byKey(c: Context<RouteEnv>, header: string): Promise<{ by: CallingKey; tenant: Tenant }> {
    const secret = /^Bearer +(\S+)$/i.exec(header)?.[1];
    const key = secret === undefined ? undefined : await keys.authenticate(secret);
    const tenant = key && (await tenants.byId(key.tenantId));
    if (key && tenant) return { by: { kind: "key", key }, tenant };
    throw await guessed(c, "The API key is unknown, expired or revoked. Create a new one, or ask your administrator.");
  }

  async function byCookie(c: Context<RouteEnv>, token: string): Promise<SignedIn> {
    const signedIn = await sessions.authenticate(token);
    if (signedIn === undefined) throw await guessed(c, "Your session has ended. Sign in again.");
    requireOwnOrigin(c.req.raw, own);
    return signedIn;
  }

  async function inWorkspace(
    signedIn: SignedIn,
    named: string | undefined,
  ): Promise<{ by: CallingPerson; tenant: Tenant }> {
    const membership = choose(signedIn, named);
    const tenant = await tenants.byId(membership.tenant);
    if (tenant === undefined) throw noWorkspace(membership.slug);
    return { by: { kind: "person", ...signedIn, role: membership.role }, tenant };
  }

  async function identify(c: Context<RouteEnv>): Promise<void> {
    const place = accessOfPath(c.req.path);
    if (place === "public") {
      // Another site must not sign a visitor in to an account of its choice.
      requireOwnOrigin(c.req.raw, own);
      return;
    }
    const header = c.req.header("authorization");
    const token = header === undefined ? cookie.read(c.req.header("cookie") ?? null) : undefined;
    if (header === undefined && token === undefined) {
      throw new Problem("unauthorized", "Send your API key in the header Authorization: Bearer ql_…, or sign in.");
    }
    if (place !== "workspace") {
      if (token === undefined) throw new Problem("forbidden", "This is for people, not for API keys. Sign in.");
      c.set("signedIn", await byCookie(c, token));
      return;
    }
    const caller =
      token === undefined
        ? await byKey(c, header ?? "")
        : await inWorkspace(await byCookie(c, token), namedWorkspace(c));
    requireWorking(caller.tenant);
    c.set("caller", caller);
  }

  return {
    async first(c, next) {
      await identify(c);
      await next();
    },
    again: identify,
  };
}

/** A frame cannot send headers, so the routes that are shown in one take the workspace as a parameter too. */
const namedWorkspace = (c: Context<RouteEnv>): string | undefined =>
  c.req.header(workspaceHeader) ?? (isReading(c.req.method) ? c.req.query("workspace") : undefined);

/** The workspace that the call names; else the one that the session showed last; else the only one. */
function choose({ session, memberships }: SignedIn, named: string | undefined): Membership {
  if (named !== undefined) {
    const found = memberships.find(({ tenant, slug }) => tenant === named || slug === named);
    if (found === undefined) throw noWorkspace(named);
    return found;
  }
  const [only, ...others] = memberships;
  const last = memberships.find(({ tenant }) => tenant === session.workspace);
  const chosen = last ?? (others.length === 0 ? only : undefined);
  if (chosen !== undefined) return chosen;
  throw new Problem(
    "workspace_required",
    memberships.length === 0
      ? "You are not a member of any workspace. Ask for an invitation."
      : `You are a member of several workspaces. Name one in the header ${workspaceHeader}.`,
  );
}

function requireWorking({ suspended, deleteAt }: Tenant): void {
  if (suspended !== null) {
    throw new Problem("suspended", "The operator of this server has suspended your workspace. Contact the operator.");
  }
  if (deleteAt !== null) {
    const day = toIso(deleteAt).slice(0, 10);
    throw new Problem("suspended", `Your workspace was deleted. Until ${day} one of its owners can restore it.`);
  }
}

const noWorkspace = (name: string): Problem =>
  new Problem("not_found", `There is no workspace "${name}", or you are not a member of it.`);

const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

export interface OwnOrigin {
  readonly origin: string;
  /** Pages of the host that the request is sent to are ours too, over plain http. */
  readonly anyHost: boolean;
}

/** A page of another site can cause requests with our cookies, but not with our origin. */
export function requireOwnOrigin({ method, headers }: Request, { origin, anyHost }: OwnOrigin): void {
  if (isReading(method)) return;
  const sent = headers.get("origin");
  if (sent === origin) return;
  if (anyHost && sent === `http://${headers.get("host")?.toLowerCase()}`) return;
  throw new Problem(
    "wrong_origin",
    `This request must come from a page of ${origin}. Open the dashboard there, or have the operator set QL_BASE_URL to the address in your browser.`,
  );
}
