import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import { containsText } from "../../sql/contains-text.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Trx } from "../../sql/tenant-db.ts";
import type { Account, People } from "../people.ts";
import type { Publishing, Sessions } from "../sessions.ts";

/**
 * What operators do with accounts. An operator whose account works always remains: whoever takes the right from one, or
 * disables one, locks all of them first.
 */
export interface Operators {
  /** By ID; `after` is the last one of the previous page. `search`: whose address or name contains this. */
  list(limit: number, after?: PersonId, search?: string): Promise<Account[]>;
  change(id: PersonId, change: OperatorChange, by: Actor): Promise<Account>;
}

export interface OperatorChange {
  readonly isDisabled?: boolean | undefined;
  readonly isOperator?: boolean | undefined;
}

export interface OperatorSettings {
  readonly sql: Sql;
  readonly people: People;
  readonly sessions: Pick<Sessions, "touch">;
}

export function createOperators({ sql, people, sessions }: OperatorSettings): Operators {
  const { db } = sql;

  return {
    async list(limit, after = "" as PersonId, search) {
      if (search === undefined) return await people.list(limit, after);
      const found = await db
        .selectFrom("people")
        .select("id")
        .where("id", ">", after)
        .where(containsText(sql, ["email", "mailbox", "name"], search))
        .orderBy("id")
        .limit(limit)
        .execute();
      const accounts = await Promise.all(found.map(({ id }) => people.byId(id)));
      return accounts.filter((account) => account !== undefined);
    },

    async change(id, { isDisabled, isOperator }, by) {
      const published = await sql.transaction(async (trx): Promise<Publishing> => {
        if (isDisabled || isOperator === false) await requireOtherOperator(sql, trx, id);
        const account = await people.lock(trx, id);
        if (account === undefined) throw noSuchPerson();
        const published = await sessions.touch(trx, [id]);
        if (isOperator !== undefined && isOperator !== account.person.isOperator) {
          await people.changeIn(trx, account, { isOperator }, by);
        }
        if (isDisabled !== undefined) await people.setDisabledIn(trx, account, isDisabled, by);
        return published;
      });
      published();
      const account = await people.byId(id);
      if (account === undefined) throw noSuchPerson();
      return account;
    },
  };
}

/** Throws if this person is the only operator whose account works. */
export async function requireOtherOperator(sql: Sql, trx: Trx, id: PersonId): Promise<void> {
  // This person's row is locked in the same order as those of the operators.
  const locked = trx
    .selectFrom("people")
    .select(["id", "operator", "disabled_at"])
    .where((is) => is.or([is("operator", "=", 1), is("id", "=", id)]))
    .orderBy("id");
  const rows = (await sql.forUpdate(locked).execute()).filter((row) => row.operator === 1 && row.disabled_at === null);
  if (rows.some((row) => row.id === id) && rows.length === 1) {
    throw new Problem("last_operator", "This is the only operator of the server. Make another person operator first.");
  }
}

const noSuchPerson = (): Problem => new Problem("not_found", "There is no such person.");
