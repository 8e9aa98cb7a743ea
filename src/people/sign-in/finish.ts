import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId, TenantId } from "../../base/ids.ts";
import { recordHistory } from "../../history/history.ts";
import type { SessionCookie } from "../../http/session-cookie.ts";
import type { AgentOf } from "../../redirect/user-agents.ts";
import type { SignInMethod } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Trx } from "../../sql/tenant-db.ts";
import type { Session } from "../access.ts";
import type { Publishing, Sessions } from "../sessions.ts";
import { deviceLabel } from "./device-label.ts";
import type { KnownBrowsers } from "./known-browsers.ts";
import type { RefusedSignIns } from "./refused-sign-ins.ts";

/**
 * The last step of every sign-in, once a person has proved who they are in whatever way: starts a new session, and gives the
 * browser its cookies. A session that the browser had before ends: nobody continues under a cookie that somebody else may
 * have put there.
 */
export type FinishSignIn = (proof: SignInProof) => Promise<FinishedSignIn>;

export interface SignInProof {
  readonly person: PersonId;
  readonly method: SignInMethod;
  /** "Stay signed in": outlives the browser. */
  readonly isLasting: boolean;
  /** The request that is answered with the cookies. */
  readonly request: Request;
  readonly workspace?: TenantId | null;
  /** Ends all other sessions of the person too. */
  readonly endsOthers?: boolean;
  /**
   * Work of the same transaction, after the person's row was locked and before versions are: using up a code, a token.
   * Throw a `Problem` to refuse.
   */
  readonly before?: (trx: Trx) => Promise<void>;
  /** The same, after versions are locked: rows that belong to the person. */
  readonly after?: (trx: Trx) => Promise<void>;
}

export interface FinishedSignIn {
  readonly session: Session;
  /** Each of them a `Set-Cookie`. */
  readonly cookies: readonly string[];
}

export interface FinishSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "authenticate" | "start" | "endIn" | "touch">;
  readonly cookie: SessionCookie;
  readonly browsers: KnownBrowsers;
  readonly agentOf: AgentOf;
  readonly refused: RefusedSignIns;
  /** Somebody signed in with a browser that was not used for this account before. */
  readonly newBrowser: (person: PersonId, session: Session) => Promise<void>;
}

/** What a wrong password answers too: an account that was just disabled is not told apart. */
export const signInFailed = (): Problem => new Problem("sign_in_failed", "The email address or password is wrong.");

/** A person who just created the account, or who was mailed a moment ago, needs no mail about this device. */
const isToldAnyway = (method: SignInMethod): boolean => ["setup", "sign-up", "invitation", "reset"].includes(method);

export function createFinish(settings: FinishSettings): FinishSignIn {
  const { sql, clock, sessions, cookie, browsers, agentOf, refused } = settings;

  return async (proof) => {
    const { person, method, isLasting, request, workspace = null } = proof;
    const cookies = request.headers.get("cookie");
    const device = deviceLabel(agentOf(request.headers.get("user-agent")));
    const token = cookie.read(cookies);
    const former = token === undefined ? undefined : (await sessions.authenticate(token))?.session;
    const isKnown = browsers.nameFor(cookies, person) !== undefined;

    let published: Publishing = () => {};
    const started = await sql.transaction(async (trx) => {
      await requireEnabled(trx, person, method);
      await proof.before?.(trx);
      published = await sessions.touch(trx, former === undefined ? [person] : [person, former.personId]);
      if (former !== undefined) await sessions.endIn(trx, former.personId, { only: former.id });
      if (proof.endsOthers) await sessions.endIn(trx, person, "all");
      await proof.after?.(trx);
      const begun = await sessions.start(trx, { personId: person, method, device, isLasting, workspace });
      await recordHistory(trx, clock, {
        ...{ tenant: "", actor: { kind: "person", id: person }, action: "person.sign_in" },
        ...{ subject: { kind: "person", id: person }, after: { method, device } },
      });
      return begun;
    });
    published();
    if (!isKnown && !isToldAnyway(method)) await settings.newBrowser(person, started.session);
    const { session } = started;
    const lifeSeconds = Math.floor((session.expiresAt - session.createdAt) / 1_000);
    return {
      session,
      cookies: [cookie.write(started.token, isLasting ? lifeSeconds : undefined), browsers.remember(cookies, person)],
    };
  };

  async function requireEnabled(trx: Trx, person: PersonId, method: SignInMethod): Promise<void> {
    const row = trx.selectFrom("people").select("disabled_at").where("id", "=", person);
    const found = await sql.forUpdate(row).executeTakeFirst();
    if (found?.disabled_at === null) return;
    if (found !== undefined) refused.note({ person, method, reason: "disabled" });
    throw signInFailed();
  }
}
