import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { newId, type PersonId, parseId, type SessionId, type TenantId } from "../base/ids.ts";
import type { Cache } from "../cache/cache.ts";
import type { Publish } from "../cache/feed.ts";
import { type Actor, recordHistory } from "../history/history.ts";
import type { SignInMethod } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db, Trx } from "../sql/tenant-db.ts";
import { type RaiseKeys, raiseVersions } from "../sql/versions.ts";
import { type Membership, type PersonAccess, type Session, sessionsMost } from "./access.ts";
import type { Person } from "./person.ts";

/**
 * Sessions: what a browser keeps after its person signed in. The cookie has the person's ID and 256 random bits; SQL has a
 * hash of these. Nothing of the visitor's address is stored.
 *
 * A session ends when it was not used for its idle time, at its absolute end, and when it is revoked: the version of its
 * person is raised in the same transaction (`access.ts`).
 */
export interface Sessions {
  /** Who a cookie belongs to. */
  authenticate(token: string): Promise<SignedIn | undefined>;
  /** Whether a session that was valid still is, and its person a member of the workspace. */
  isValid(workspace: TenantId, session: { readonly id: SessionId; readonly person: PersonId }): Promise<boolean>;
  /** In the caller's transaction, which then raises the person's version with `touch`. */
  start(trx: Trx, session: NewSession): Promise<{ readonly token: string; readonly session: Session }>;
  /** Newest first. */
  list(person: PersonId): Promise<readonly Session[]>;
  /** Ends those that are named, or all but one. Returns how many it ended. */
  end(person: PersonId, which: EndedSessions, actor?: Actor): Promise<number>;
  /** The same in the caller's transaction, which raises the version itself. */
  endIn(trx: Trx, person: PersonId, which: EndedSessions): Promise<number>;
  /** Throws unless it still exists. The caller has raised the person's version, so that nothing ends it meanwhile. */
  requireIn(trx: Trx, session: Pick<Session, "id">): Promise<void>;
  /** Remembers which workspace this session shows. */
  choose(session: Session, workspace: TenantId): Promise<void>;
  /**
   * Something about these people changed: raises their versions, and those of what else it changes. Once in a transaction.
   */
  touch(trx: Trx, people: readonly PersonId[], ...others: readonly RaiseKeys[]): Promise<Publishing>;
  /** Writes the buffered times of last use. */
  flush(): Promise<void>;
}

/** To be called after the commit. */
export type Publishing = () => void;

export interface SignedIn {
  readonly person: Person;
  readonly session: Session;
  readonly memberships: readonly Membership[];
}

export interface NewSession {
  readonly personId: PersonId;
  readonly method: SignInMethod;
  /** "Firefox on Linux". */
  readonly device: string;
  /** Whether it outlives the browser. */
  readonly isLasting: boolean;
  readonly workspace?: TenantId | null;
}

export type EndedSessions = { readonly only: SessionId } | { readonly except: SessionId } | "all";

const dayMs = 86_400_000;
export const lastingIdleMs = 14 * dayMs;
export const lastingMs = 90 * dayMs;
/** Of a session that ends with the browser. */
export const shortIdleMs = dayMs / 2;
export const shortMs = 7 * dayMs;

const seenEveryMs = 5 * 60_000;
const seenMost = 10_000;
const secretBytes = 32;
const pattern = /^(per_[0-9a-z]{26})\.([\w-]{43})$/;

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

export interface SessionSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly access: Pick<Cache<PersonAccess, PersonId>, "peek" | "lookup">;
  readonly publish: Publish;
}

export function createSessions({ sql, clock, access, publish }: SessionSettings): Sessions {
  const { db } = sql;
  /** When sessions were last used, until it is written. */
  const seen = new Map<SessionId, number>();

  async function touch(trx: Trx, people: readonly PersonId[], ...others: readonly RaiseKeys[]): Promise<Publishing> {
    const changes = await raiseVersions(sql, trx, [{ kind: "session", keys: people }, ...others], clock.now());
    return () => {
      for (const change of changes) publish(change);
    };
  }

  async function endIn(trx: Trx, person: PersonId, which: EndedSessions): Promise<number> {
    let ended = trx.deleteFrom("sessions").where("person_id", "=", person);
    if (which !== "all") {
      ended = "only" in which ? ended.where("id", "=", which.only) : ended.where("id", "!=", which.except);
    }
    return Number((await ended.executeTakeFirst()).numDeletedRows);
  }

  async function list(person: PersonId): Promise<Session[]> {
    const { value } = await access.lookup(person);
    const now = clock.now();
    return [...(value?.sessions.values() ?? [])].filter((session) => isAlive(session, now));
  }

  const isAlive = ({ id, seenAt, idleMs, expiresAt }: Session, now: number): boolean =>
    now < expiresAt && now - Math.max(seenAt, seen.get(id) ?? 0) < idleMs;

  return {
    touch,
    endIn,

    async authenticate(token) {
      const [, id = "", secret = ""] = pattern.exec(token) ?? [];
      const personId = parseId("person", id);
      if (personId === undefined) return undefined;
      const { value } = access.peek(personId) ?? (await access.lookup(personId));
      const session = value?.sessions.get(hashOf(secret));
      const now = clock.now();
      if (value === undefined || session === undefined || !isAlive(session, now)) return undefined;
      const known = Math.max(session.seenAt, seen.get(session.id) ?? 0);
      if (now - known > seenEveryMs && (seen.size < seenMost || seen.has(session.id))) seen.set(session.id, now);
      return { person: value.person, session, memberships: value.memberships };
    },

    async start(trx, { personId, method, device, isLasting, workspace = null }) {
      const secret = randomBytes(secretBytes).toString("base64url");
      const now = clock.now();
      const session: Session = {
        ...{ id: newId("session", clock), personId, method, device, workspace, createdAt: now, provedAt: now },
        ...{ seenAt: now, idleMs: isLasting ? lastingIdleMs : shortIdleMs },
        expiresAt: now + (isLasting ? lastingMs : shortMs),
      };
      await trx
        .insertInto("sessions")
        .values(toRow(session, hashOf(secret)))
        .execute();
      const old = trx.selectFrom("sessions").select("id").where("person_id", "=", personId).orderBy("id", "desc");
      const beyond = await old.offset(sessionsMost).limit(sessionsMost).execute();
      if (beyond.length > 0) {
        const ids = beyond.map(({ id }) => id);
        await trx.deleteFrom("sessions").where("id", "in", ids).execute();
      }
      return { token: `${personId}.${secret}`, session };
    },

    list,

    async requireIn(trx, { id }) {
      if ((await selectSession.first(trx, { id })) === undefined) {
        throw new Problem("unauthorized", "Your session has ended. Sign in again.");
      }
    },

    async isValid(workspace, { id, person }) {
      const { value } = await access.lookup(person);
      const isMember = value?.memberships.some(({ tenant }) => tenant === workspace) ?? false;
      return isMember && (await list(person)).some((session) => session.id === id);
    },

    async end(person, which, actor = { kind: "person", id: person }) {
      let published: Publishing = () => {};
      const count = await sql.transaction(async (trx) => {
        published = await touch(trx, [person]);
        const ended = await endIn(trx, person, which);
        if (ended > 0) {
          await recordHistory(trx, clock, {
            ...{ tenant: "", actor, action: "person.sessions_end", subject: { kind: "person", id: person } },
            after: { sessions: ended },
          });
        }
        return ended;
      });
      published();
      return count;
    },

    async choose({ id, personId }, workspace) {
      let published: Publishing = () => {};
      await sql.transaction(async (trx) => {
        published = await touch(trx, [personId]);
        await trx.updateTable("sessions").set({ workspace_id: workspace }).where("id", "=", id).execute();
      });
      published();
    },

    async flush() {
      const waiting = [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
      for (const [id, at] of waiting) {
        await setSeen.run(db, { id, at });
        // Kept for a while: what is in memory was read before this.
        if (clock.now() - at > 2 * seenEveryMs) seen.delete(id);
      }
    },
  };
}

const toRow = (session: Session, hash: string) => ({
  ...{ id: session.id, person_id: session.personId, hash, method: session.method, device: session.device },
  ...{ workspace_id: session.workspace, created_at: session.createdAt, proved_at: session.provedAt },
  ...{ seen_at: session.seenAt, idle_ms: session.idleMs, expires_at: session.expiresAt },
});

const selectSession = statement((db: Db, { id }: Params<{ id: SessionId }>) =>
  db.selectFrom("sessions").select("id").where("id", "=", id),
);

const setSeen = statement((db: Db, { id, at }: Params<{ id: SessionId; at: number }>) =>
  db.updateTable("sessions").set({ seen_at: at }).where("id", "=", id).where("seen_at", "<", at),
);
