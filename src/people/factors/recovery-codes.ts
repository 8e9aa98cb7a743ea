import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";

/**
 * Recovery codes: ten second factors on paper, for those who lost their phone. They are shown once, and each works once.
 *
 * A code has 80 random bits, so that a stolen database does not give them away: 50 bits, as is common, can be tried out
 * against a plain hash within days.
 */
export interface RecoveryCodes {
  /** New ones, in the caller's transaction. Those of before end. */
  replace(trx: Trx, person: PersonId): Promise<readonly string[]>;
  /** Uses it up. False if it is none of this person, or was used before. */
  use(db: Db, person: PersonId, code: string): Promise<boolean>;
  /** How many are left. */
  left(person: PersonId): Promise<number>;
}

export const recoveryCodesCount = 10;
const groups = 4;
const groupChars = 4;
/** Crockford's Base32: no letter looks like a digit. */
const letters = "0123456789abcdefghjkmnpqrstvwxyz";
const bare = /^[0-9a-hjkmnp-tv-z]{16}$/;
/** With any separators; longer texts are not looked at. */
export const recoveryCodeMost = 40;

export function createRecoveryCodes({ db }: Sql, clock: Clock): RecoveryCodes {
  return {
    async replace(trx, person) {
      await deleteCodes.run(trx, { person });
      const codes = Array.from({ length: recoveryCodesCount }, newCode);
      const rows = codes.map((code) => ({ person_id: person, hash: hashOf(person, plain(code) ?? "") }));
      await insertCodes.run(trx, { rows });
      return codes;
    },

    async use(handle, person, text) {
      const code = plain(text);
      if (code === undefined) return false;
      return (await useCode.run(handle, { person, hash: hashOf(person, code), now: clock.now() })) > 0;
    },

    async left(person) {
      return (await selectUnused.all(db, { person })).length;
    },
  };
}

/** `k3f7-9q2m-x0ab-77tz` */
function newCode(): string {
  const chars = [...randomBytes(groups * groupChars)].map((byte) => letters.charAt(byte & 31));
  return Array.from({ length: groups }, (_, i) => chars.slice(i * groupChars, (i + 1) * groupChars).join("")).join("-");
}

/** As people type it: with spaces or without dashes, in capitals, an O for a zero. */
function plain(text: string): string | undefined {
  if (text.length > recoveryCodeMost) return undefined;
  const code = text.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  return bare.test(code) ? code : undefined;
}

/** The person is the salt: one guess cannot be compared with everybody's codes. */
const hashOf = (person: PersonId, code: string): string =>
  createHash("sha256").update(`${person} ${code}`).digest("hex");

const deleteCodes = statement((db: Db, { person }: Params<{ person: PersonId }>) =>
  db.deleteFrom("recovery_codes").where("person_id", "=", person),
);

const insertCodes = statement((db: Db, { rows }: Params<{ rows: readonly { person_id: PersonId; hash: string }[] }>) =>
  db.insertInto("recovery_codes").values(rows.map((row) => ({ ...row, used_at: null }))),
);

const useCode = statement((db: Db, { person, hash, now }: Params<{ person: PersonId; hash: string; now: number }>) =>
  db
    .updateTable("recovery_codes")
    .set({ used_at: now })
    .where("person_id", "=", person)
    .where("hash", "=", hash)
    .where("used_at", "is", null),
);

const selectUnused = statement((db: Db, { person }: Params<{ person: PersonId }>) =>
  db.selectFrom("recovery_codes").select("hash").where("person_id", "=", person).where("used_at", "is", null),
);
