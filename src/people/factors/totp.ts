import { randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Ring } from "../../base/seal.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";

/**
 * TOTP (RFC 6238): codes of an authenticator app, six digits that change every 30 s. Phones and servers disagree about the
 * time, so the code before and the code after are accepted too.
 *
 * A step is accepted once: the database remembers the last one, and only a later one may follow. Of two requests with the
 * same code, one updates the row and the other finds nothing to update.
 *
 * The secret is encrypted, and the person is its context: moved to another person's row, it cannot be decrypted. A secret
 * that was offered waits in `person_tokens` until its person has shown a code of it.
 */
export interface Totp {
  /** A new secret. It replaces one that was offered before and not confirmed. */
  offer(person: { readonly id: PersonId; readonly email: string }): Promise<TotpOffer>;
  /** Whether the code is one of the offered secret. */
  checkOffer(person: PersonId, code: string): Promise<OfferCheck>;
  /** In the caller's transaction. False if the offer is gone, or the person has a secret already. */
  turnOn(trx: Trx, person: PersonId, confirmed: TotpStep): Promise<boolean>;
  /** Whether the code is one of the person's secret. It counts once `use` has said so. */
  check(person: PersonId, code: string): Promise<TotpStep | undefined>;
  /** False if this step, or a later one, was used before. */
  use(db: Db, person: PersonId, step: TotpStep): Promise<boolean>;
}

export interface TotpOffer {
  /** In Base32, for typing. */
  readonly secret: string;
  /** `otpauth://totp/…`, for a QR code. */
  readonly url: string;
  readonly expiresAt: number;
}

/** The 30 s to which a code belongs, and the secret that it was checked against. */
export interface TotpStep {
  readonly sealed: string;
  readonly step: number;
}

export type OfferCheck = ({ readonly kind: "right" } & TotpStep) | { readonly kind: "wrong" | "none" };

export interface TotpSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ring: Ring;
  /** What the app shows beside the address: the host of this server. */
  readonly issuer: string;
}

export const periodMs = 30_000;
/** Steps before and after the current one. */
const windowSteps = 1;
const codeDigits = 6;
/** RFC 4226 recommends 160 bits, which is what SHA-1 mixes in. */
const totpSecretBytes = 20;
/** Time enough to install an app. */
export const offerMs = 20 * 60_000;
const kind = "totp";

export const totpContext = (person: PersonId): string => `totp ${person}`;

export function createTotp({ sql, clock, ring, issuer }: TotpSettings): Totp {
  const { db } = sql;

  async function stepOf(sealed: string, person: PersonId, code: string): Promise<TotpStep | undefined> {
    const opened = ring.open(sealed, totpContext(person));
    if (opened.kind !== "opened") throw undecipherable();
    const step = await matchStep(opened.secret, code, clock.now());
    return step === undefined ? undefined : { sealed, step };
  }

  return {
    async offer({ id, email }) {
      const { Secret, TOTP } = await import("otpauth");
      const secret = new Secret({ buffer: new Uint8Array(randomBytes(totpSecretBytes)).buffer });
      const now = clock.now();
      const expiresAt = now + offerMs;
      const row = {
        ...{ hash: `totp ${id}`, kind, person_id: id, data: ring.seal(secret.base32, totpContext(id)) },
        ...{ created_at: now, expires_at: expiresAt },
      };
      await insertOffer.run(db, row);
      const { digits, period } = { digits: codeDigits, period: periodMs / 1_000 };
      const url = new TOTP({ issuer, label: email, secret, digits, period }).toString();
      return { secret: secret.base32, url, expiresAt };
    },

    async checkOffer(id, code) {
      const row = await selectOffer.first(db, { id, now: clock.now() });
      if (!row?.data) return { kind: "none" };
      const step = await stepOf(row.data, id, code);
      return step === undefined ? { kind: "wrong" } : { kind: "right", ...step };
    },

    async turnOn(trx, id, { sealed, step }) {
      const isOffered = (await deleteOffer.run(trx, { id, sealed })) > 0;
      return isOffered && (await setTotp.run(trx, { id, sealed, step })) > 0;
    },

    async check(id, code) {
      const row = await selectTotp.first(db, { id });
      return row?.totp ? await stepOf(row.totp, id, code) : undefined;
    },

    use: async (handle, id, { sealed, step }) => (await useStep.run(handle, { id, sealed, step })) > 0,
  };
}

/** A key was removed from QL_SECRET_KEYS before its secrets were encrypted again. Recovery codes work all the same. */
const undecipherable = (): Problem =>
  new Problem(
    "not_set_up",
    "The secret of your authenticator app cannot be decrypted. Use a recovery code, or ask the operator to reset it.",
  );

/** Loaded when first used: most servers never need it. */
async function matchStep(base32: string, code: string, now: number): Promise<number | undefined> {
  if (!/^\d{6}$/.test(code)) return undefined;
  const { Secret, TOTP } = await import("otpauth");
  const totp = new TOTP({ secret: Secret.fromBase32(base32), digits: codeDigits, period: periodMs / 1_000 });
  const delta = totp.validate({ token: code, timestamp: now, window: windowSteps });
  return delta === null ? undefined : Math.floor(now / periodMs) + delta;
}

interface OfferRow {
  readonly hash: string;
  readonly kind: string;
  readonly person_id: PersonId;
  readonly data: string;
  readonly created_at: number;
  readonly expires_at: number;
}

const insertOffer = statement((db: Db, row: Params<OfferRow>) =>
  db
    .insertInto("person_tokens")
    .values(row)
    .onConflict((conflict) =>
      conflict.column("hash").doUpdateSet({ data: row.data, created_at: row.created_at, expires_at: row.expires_at }),
    ),
);

const selectOffer = statement((db: Db, { id, now }: Params<{ id: PersonId; now: number }>) =>
  db
    .selectFrom("person_tokens")
    .select("data")
    .where("person_id", "=", id)
    .where("kind", "=", kind)
    .where("expires_at", ">", now),
);

const deleteOffer = statement((db: Db, { id, sealed }: Params<{ id: PersonId; sealed: string }>) =>
  db.deleteFrom("person_tokens").where("person_id", "=", id).where("kind", "=", kind).where("data", "=", sealed),
);

const selectTotp = statement((db: Db, { id }: Params<{ id: PersonId }>) =>
  db.selectFrom("people").select("totp").where("id", "=", id),
);

const setTotp = statement((db: Db, { id, sealed, step }: Params<{ id: PersonId; sealed: string; step: number }>) =>
  db.updateTable("people").set({ totp: sealed, totp_step: step }).where("id", "=", id).where("totp", "is", null),
);

/** The secret is compared too: a code of a secret that was replaced meanwhile uses no step of the new one. */
const useStep = statement((db: Db, { id, sealed, step }: Params<{ id: PersonId; sealed: string; step: number }>) =>
  db
    .updateTable("people")
    .set({ totp_step: step })
    .where("id", "=", id)
    .where("totp", "=", sealed)
    .where((row) => row.or([row("totp_step", "is", null), row("totp_step", "<", step)])),
);
