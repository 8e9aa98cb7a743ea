import type { Selectable } from "kysely";
import type { Clock } from "../../base/clock.ts";
import type { PersonId } from "../../base/ids.ts";
import type { PasskeyTable } from "../../sql/schema.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";
import type { NewPasskey, UsedPasskey } from "./passkeys.ts";

/** Passkeys as people see them. */
export interface Passkey {
  /** Chosen by the device. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export type PasskeyRow = Selectable<PasskeyTable>;

/** Of one person. */
export const passkeysMost = 20;

export function createPasskeyRows(db: Db, clock: Clock) {
  return {
    find: (id: string) => selectPasskey.first(db, { id }),
    list: (person: PersonId): Promise<Passkey[]> => selectPasskeys.all(db, { person, most: passkeysMost }),

    /** The caller has locked the person: nobody adds another at the same time. */
    async add(trx: Trx, person: PersonId, passkey: NewPasskey, name: string): Promise<Passkey | "taken" | "full"> {
      if ((await selectPasskeys.all(trx, { person, most: passkeysMost })).length >= passkeysMost) return "full";
      const added = { ...passkey, person_id: person, name, created_at: clock.now(), last_used_at: null };
      if ((await insertPasskey.run(trx, added)) === 0) return "taken";
      return { id: passkey.id, name, createdAt: added.created_at, lastUsedAt: null };
    },

    use: async (handle: Db, { id, person, counter }: UsedPasskey): Promise<boolean> =>
      (await usePasskey.run(handle, { id, person, counter, now: clock.now() })) > 0,

    rename: (person: PersonId, id: string, name: string): Promise<Passkey | undefined> =>
      renamePasskey.first(db, { person, id, name }),

    remove: async (trx: Trx, person: PersonId, id: string): Promise<boolean> =>
      (await deletePasskey.run(trx, { person, id })) > 0,
  };
}

const selectPasskey = statement((db: Db, { id }: Params<{ id: string }>) =>
  db
    .selectFrom("passkeys")
    .select(["id", "person_id", "name", "public_key", "counter", "transports", "created_at", "last_used_at"])
    .where("id", "=", id),
);

const selectPasskeys = statement((db: Db, { person, most }: Params<{ person: PersonId; most: number }>) =>
  db
    .selectFrom("passkeys")
    .select(["id", "name", "created_at as createdAt", "last_used_at as lastUsedAt"])
    .where("person_id", "=", person)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(most),
);

const insertPasskey = statement((db: Db, row: Params<PasskeyRow>) =>
  db
    .insertInto("passkeys")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/** Devices that do not count always say 0. */
const usePasskey = statement(
  (db: Db, { id, person, counter, now }: Params<{ id: string; person: PersonId; counter: number; now: number }>) =>
    db
      .updateTable("passkeys")
      .set({ counter, last_used_at: now })
      .where("id", "=", id)
      .where("person_id", "=", person)
      .where((row) =>
        row.or([row("counter", "<", counter), row.and([row("counter", "=", 0), row("counter", "=", counter)])]),
      ),
);

const renamePasskey = statement(
  (db: Db, { person, id, name }: Params<{ person: PersonId; id: string; name: string }>) =>
    db
      .updateTable("passkeys")
      .set({ name })
      .where("person_id", "=", person)
      .where("id", "=", id)
      .returning(["id", "name", "created_at as createdAt", "last_used_at as lastUsedAt"]),
);

const deletePasskey = statement((db: Db, { person, id }: Params<{ person: PersonId; id: string }>) =>
  db.deleteFrom("passkeys").where("person_id", "=", person).where("id", "=", id),
);
