import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { PersonId } from "../base/ids.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db, Trx } from "../sql/tenant-db.ts";

/**
 * What proves that somebody got a mail, or saw this machine's screen: 256 random bits that work once, for a limited time.
 * SQL has their hash. A token of one kind is none of another.
 */
export interface PersonTokens {
  /** The older ones of the same kind keep working, up to `tokensMost`: a stranger's request must not void an owner's mail. */
  issue(db: Db | Trx, token: NewPersonToken): Promise<string>;
  /** Whose it is, without using it up. */
  peek(db: Db | Trx, kind: TokenKind, token: string): Promise<UsedToken | undefined>;
  /** Uses it up: of two who try at the same time, one gets it. */
  use(trx: Trx, kind: TokenKind, token: string): Promise<UsedToken | undefined>;
  /** Voids all tokens of a person, or those of a kind. */
  void(trx: Trx, person: PersonId, kind?: TokenKind): Promise<void>;
}

/** Other rooms add their kinds here. */
export type TokenKind =
  | "setup"
  | "sign-up"
  | "verification"
  | "reset"
  | "email"
  | "second-factor"
  | "passkey-new"
  | "passkey-sign-in"
  | "oidc"
  | "invitation";

export interface NewPersonToken {
  readonly kind: TokenKind;
  /** Null: the account does not exist yet. */
  readonly person: PersonId | null;
  /** Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly lifeMs: number;
}

export interface UsedToken {
  readonly person: PersonId | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const secretBytes = 32;
const pattern = /^[\w-]{43}$/;
/** Of one person and kind. More than a person can ask for in the life of one. */
export const tokensMost = 20;

/** As it is stored. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

export function createPersonTokens(clock: Clock): PersonTokens {
  return {
    async issue(db, { kind, person, data, lifeMs }) {
      const token = randomBytes(secretBytes).toString("base64url");
      const now = clock.now();
      const row = { hash: tokenHash(token), kind, person_id: person, data: data ? JSON.stringify(data) : null };
      await db
        .insertInto("person_tokens")
        .values({ ...row, created_at: now, expires_at: now + lifeMs })
        .execute();
      if (person !== null) await deleteOld(db, person, kind);
      return token;
    },

    async peek(db, kind, token) {
      if (!pattern.test(token)) return undefined;
      const row = await selectToken.first(db, { hash: tokenHash(token), kind, now: clock.now() });
      return row && toUsed(row);
    },

    async use(trx, kind, token) {
      if (!pattern.test(token)) return undefined;
      const row = await deleteToken.first(trx, { hash: tokenHash(token), kind, now: clock.now() });
      return row && toUsed(row);
    },

    async void(trx, person, kind) {
      const those = trx.deleteFrom("person_tokens").where("person_id", "=", person);
      await (kind === undefined ? those : those.where("kind", "=", kind)).execute();
    },
  };
}

async function deleteOld(db: Db | Trx, person: PersonId, kind: TokenKind): Promise<void> {
  const own = db.selectFrom("person_tokens").select("hash").where("person_id", "=", person).where("kind", "=", kind);
  const old = await own.orderBy("created_at", "desc").orderBy("hash").offset(tokensMost).limit(tokensMost).execute();
  if (old.length === 0) return;
  const hashes = old.map(({ hash }) => hash);
  await db.deleteFrom("person_tokens").where("hash", "in", hashes).execute();
}

function toUsed(row: { readonly person_id: PersonId | null; readonly data: string | null }): UsedToken {
  return { person: row.person_id, data: row.data === null ? {} : JSON.parse(row.data) };
}

interface Named {
  readonly hash: string;
  readonly kind: string;
  readonly now: number;
}

const selectToken = statement((db: Db, { hash, kind, now }: Params<Named>) =>
  db
    .selectFrom("person_tokens")
    .select(["person_id", "data"])
    .where("hash", "=", hash)
    .where("kind", "=", kind)
    .where("expires_at", ">", now),
);

const deleteToken = statement((db: Db, { hash, kind, now }: Params<Named>) =>
  db
    .deleteFrom("person_tokens")
    .where("hash", "=", hash)
    .where("kind", "=", kind)
    .where("expires_at", ">", now)
    .returning(["person_id", "data"]),
);
