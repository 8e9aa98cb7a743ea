import { randomBytes } from "node:crypto";
import { sql as raw } from "kysely";
import { dayMs } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import type { SigningSecrets } from "../base/signature.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, ofTenant, type TenantDb } from "../sql/tenant-db.ts";
import { type DerivedIds, derive, isSeedOf, newSeed, sha256 } from "./derived-ids.ts";

/**
 * Requests that must run once, and their responses.
 *
 * A row is claimed before the work and finished after it, each in its own commit. The work is not in their transaction,
 * and need not be: IDs and secrets of what the request creates are derived from the row, so a request whose claim was
 * abandoned by a crash simply runs again and finds what was created. A claim is renewed while its work runs and
 * otherwise valid for seconds; should two run after all, they create the same things, and the primary keys let only one
 * in.
 *
 * On SQLite these commits do not wait for the disk, and need not: they precede the request's own commit in the log, and
 * a commit that waits for the disk waits for all before it.
 */
export interface Answers {
  begin(tenant: TenantId, key: string, fingerprint: string, repeatable: boolean): Promise<BeginOutcome>;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type BeginOutcome =
  /** Run the request. */
  | { readonly kind: "run"; readonly run: IdempotentRun }
  | { readonly kind: "replay"; readonly answer: StoredAnswer }
  | { readonly kind: "mismatch" }
  | { readonly kind: "in_flight"; readonly retryAfterMs: number }
  /** The process running it ended in the middle, and it is not a request that can run again. */
  | { readonly kind: "unknown" };

export interface IdempotentRun {
  readonly derived: DerivedIds;
  /** Keeps the claim; call at least every `runClaimMs`. */
  renew(): Promise<void>;
  finish(answer: StoredAnswer): Promise<void>;
  /** Whether it was done is unknown: the next one may run it again. */
  release(): Promise<void>;
  /** As if it had never been sent. */
  forget(): Promise<void>;
}

export interface AnswerSettings {
  readonly sql: Sql;
  /** The newest creates rows, all of them read rows. */
  readonly serverSecrets: SigningSecrets;
  /** No other process uses this database, so earlier claims are abandoned. */
  readonly alone: boolean;
}

export const runClaimMs = 5_000;
const keptMs = dayMs;
/** Size of a stored response. A larger one is generated again on a repeat. */
const answerMost = 4 * 1_048_576;
const inFlightMs = 1_000;

export function createAnswers({ sql, serverSecrets, alone }: AnswerSettings): Answers {
  const { db } = sql;
  let released: Promise<unknown> | undefined;

  const until = raw<number>`${sql.now} + ${runClaimMs}`;
  /** The secret that a row was created with, if still known. */
  const secretOf = (seed: string) => serverSecrets.all().find((secret) => isSeedOf(secret, seed));

  /** A new row, or that of a key that is no longer kept. */
  const insert = statement((own: TenantDb, { hash, fingerprint, seed, claim }: Params<NewRow>) => {
    const fresh = {
      fingerprint,
      seed,
      state: "running" as const,
      claim,
      claimed_until: until,
      answer: null,
      created_at: sql.now,
      expires_at: raw<number>`${sql.now} + ${keptMs}`,
    };
    return own
      .insertInto("idempotency")
      .values({ key_hash: hash, ...fresh })
      .onConflict((conflict) =>
        conflict.columns(["tenant_id", "key_hash"]).doUpdateSet(fresh).where("idempotency.expires_at", "<=", sql.now),
      )
      .returning(["seed", "created_at"]);
  });

  const find = statement((own: TenantDb, { hash }: Params<{ hash: string }>) =>
    own
      .selectFrom("idempotency")
      .select(["fingerprint", "seed", "state", "claim", "claimed_until", "answer", "created_at", sql.now.as("now")])
      .where("key_hash", "=", hash),
  );

  const takeOver = statement((own: TenantDb, { hash, former, claim }: Params<Claim & { former: string }>) =>
    own
      .updateTable("idempotency")
      .set({ state: "running", claim, claimed_until: until })
      .where("key_hash", "=", hash)
      .where("claim", "=", former)
      .returning(["seed", "created_at"]),
  );

  const claimed = (own: TenantDb, { hash, claim }: Params<Claim>) =>
    own
      .updateTable("idempotency")
      .where("key_hash", "=", hash)
      .where("claim", "=", claim)
      .where("state", "=", "running");
  const renew = statement((own: TenantDb, mine: Params<Claim>) => claimed(own, mine).set({ claimed_until: until }));
  const release = statement((own: TenantDb, mine: Params<Claim>) => claimed(own, mine).set({ claimed_until: 0 }));
  const finish = statement((own: TenantDb, { answer, ...mine }: Params<Claim & { answer: string | null }>) =>
    claimed(own, mine).set({ state: "done", answer }),
  );
  const forget = statement((own: TenantDb, { hash, claim }: Params<Claim>) =>
    own
      .deleteFrom("idempotency")
      .where("key_hash", "=", hash)
      .where("claim", "=", claim)
      .where("state", "=", "running"),
  );

  async function begin(tenant: TenantId, key: string, fingerprint: string, repeatable: boolean): Promise<BeginOutcome> {
    const hash = sha256(key);
    const claim = randomBytes(12).toString("base64url");
    const run = (row: Row, secret: Uint8Array): BeginOutcome => ({
      kind: "run",
      run: running(tenant, hash, claim, origin(secret, key, row)),
    });
    const own = ofTenant(db, tenant);
    const inserted = await insert.first(own, { hash, fingerprint, seed: newSeed(serverSecrets.newest), claim });
    if (inserted) return run(inserted, serverSecrets.newest);
    const row = await find.first(own, { hash });
    // Deleted between the two statements: its request has just failed.
    if (!row) return { kind: "in_flight", retryAfterMs: inFlightMs };
    if (row.fingerprint !== fingerprint) return { kind: "mismatch" };
    // Created with a secret that was removed: the response cannot be read, nor the same IDs be derived.
    const secret = secretOf(row.seed);
    if (secret === undefined) return { kind: "unknown" };
    if (row.answer !== null) return { kind: "replay", answer: parse(origin(secret, key, row).open(row.answer)) };
    if (row.state === "running" && row.claimed_until > row.now) return { kind: "in_flight", retryAfterMs: inFlightMs };
    if (!repeatable) return { kind: "unknown" };
    const taken = await takeOver.first(own, { hash, former: row.claim, claim });
    return taken ? run(taken, secret) : { kind: "in_flight", retryAfterMs: inFlightMs };
  }

  const origin = (serverSecret: Uint8Array, key: string, row: Row) =>
    derive({ serverSecret, key, seed: row.seed, createdAt: row.created_at });

  function running(tenant: TenantId, hash: string, claim: string, derived: DerivedIds): IdempotentRun {
    const own = ofTenant(db, tenant);
    const mine = { hash, claim };
    return {
      derived,
      async renew() {
        await renew.run(own, mine);
      },
      async finish(answer) {
        const sealed = derived.seal(JSON.stringify(answer));
        const kept = sealed.length <= answerMost ? sealed : null;
        await finish.run(own, { ...mine, answer: kept });
      },
      async release() {
        await release.run(own, mine);
      },
      async forget() {
        await forget.run(own, mine);
      },
    };
  }

  const releaseAll = () =>
    acrossTenants(db).updateTable("idempotency").set({ claimed_until: 0 }).where("state", "=", "running").execute();

  return {
    async begin(tenant, key, fingerprint, repeatable) {
      if (alone) {
        released ??= releaseAll();
        await released.catch((error: unknown) => {
          released = undefined;
          throw error;
        });
      }
      return begin(tenant, key, fingerprint, repeatable);
    },
  };
}

/** Whose work on a row it is. */
interface Claim {
  readonly hash: string;
  readonly claim: string;
}

interface NewRow extends Claim {
  readonly fingerprint: string;
  readonly seed: string;
}

interface Row {
  readonly seed: string;
  readonly created_at: number;
}

const parse = (text: string): StoredAnswer => JSON.parse(text) as StoredAnswer;

/** Deletes rows past their retention; returns how many. */
export async function pruneAnswers({ db, transaction, now }: Sql, limit: number): Promise<number> {
  const rows = await acrossTenants(db)
    .selectFrom("idempotency")
    .select(["tenant_id", "key_hash"])
    .where("expires_at", "<=", now)
    .limit(limit)
    .execute();
  await transaction(async (trx) => {
    for (const { tenant_id: tenant, key_hash } of rows) {
      await ofTenant(trx, tenant)
        .deleteFrom("idempotency")
        .where("key_hash", "=", key_hash)
        .where("expires_at", "<=", now)
        .execute();
    }
  });
  return rows.length;
}
