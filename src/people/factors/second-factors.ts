import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import { recordHistory } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Trx } from "../../sql/tenant-db.ts";
import type { Session } from "../access.ts";
import type { People } from "../people.ts";
import type { Publishing, Sessions } from "../sessions.ts";
import type { Passkey } from "./passkey-rows.ts";
import type { NewPasskey, Passkeys } from "./passkeys.ts";
import type { RecoveryCodes } from "./recovery-codes.ts";
import type { Totp, TotpStep } from "./totp.ts";

/**
 * Changes to how a person signs in: each locks their account, raises its version, and is a row of history. The secrets
 * themselves are in none of these rows. The session in which it was asked for must still exist: whoever resets the password
 * has ended it, and with it every way in that was being prepared.
 */
export interface SecondFactors {
  /** Returns the recovery codes, which are shown once. */
  turnOn(by: Session, step: TotpStep): Promise<readonly string[]>;
  /** Ends recovery codes and remembered devices too. False if there was none. */
  turnOff(person: PersonId): Promise<boolean>;
  newRecoveryCodes(by: Session): Promise<readonly string[]>;
  addPasskey(by: Session, passkey: NewPasskey, name: string): Promise<Passkey>;
  removePasskey(by: Session, id: string): Promise<boolean>;
}

export interface SecondFactorsSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "touch" | "requireIn">;
  readonly people: Pick<People, "removeSecondFactor">;
  readonly totp: Pick<Totp, "turnOn"> | undefined;
  readonly recoveryCodes: RecoveryCodes;
  readonly passkeys: Pick<Passkeys, "add" | "remove"> | undefined;
  /** Tells the person by mail, after the commit. */
  readonly tell: (person: PersonId, what: FactorChange) => Promise<void>;
}

export type FactorChange = "second-factor-removed" | "passkey-added" | "passkey-removed";

export function createSecondFactors(settings: SecondFactorsSettings): SecondFactors {
  const { sql, clock, sessions, totp, recoveryCodes, passkeys } = settings;

  /** Nothing else changes the account meanwhile. Work that returns undefined changed nothing. */
  async function change<Result>(
    by: Session,
    entry: { readonly action: string; readonly after?: Readonly<Record<string, unknown>> },
    work: (trx: Trx) => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const { personId: id } = by;
    let published: Publishing = () => {};
    const result = await sql.transaction(async (trx) => {
      await sql.forUpdate(trx.selectFrom("people").select("id").where("id", "=", id)).executeTakeFirstOrThrow();
      published = await sessions.touch(trx, [id]);
      await sessions.requireIn(trx, by);
      const changed = await work(trx);
      if (changed === undefined) return undefined;
      const subject = { kind: "person", id } as const;
      await recordHistory(trx, clock, { tenant: "", actor: subject, subject, ...entry });
      return changed;
    });
    published();
    return result;
  }

  return {
    async turnOn(by, step) {
      const { personId: id } = by;
      const codes = await change(by, { action: "person.totp_on" }, async (trx) =>
        (await totp?.turnOn(trx, id, step)) ? await recoveryCodes.replace(trx, id) : undefined,
      );
      if (codes !== undefined) return codes;
      throw new Problem("name_taken", "You already have an authenticator app. Remove it first.");
    },

    async turnOff(id) {
      const wasOn = await settings.people.removeSecondFactor(id, { kind: "person", id });
      if (wasOn) await settings.tell(id, "second-factor-removed");
      return wasOn;
    },

    async newRecoveryCodes(by) {
      const replaced = (trx: Trx) => recoveryCodes.replace(trx, by.personId);
      return (await change(by, { action: "person.recovery_codes" }, replaced)) ?? [];
    },

    async addPasskey(by, passkey, name) {
      const { personId: id } = by;
      const added = await change(by, { action: "person.passkey_add", after: { name } }, async (trx) => {
        const outcome = await passkeys?.add(trx, id, passkey, name);
        if (outcome === "full")
          throw new Problem("collection_full", "You have as many passkeys as possible. Remove one.");
        if (outcome === "taken") throw new Problem("passkey_refused", "This passkey is in use already.");
        return outcome;
      });
      if (added === undefined) throw new Error("a passkey was neither added nor refused");
      await settings.tell(id, "passkey-added");
      return added;
    },

    async removePasskey(by, passkey) {
      const { personId: id } = by;
      const removed = await change(by, { action: "person.passkey_remove" }, async (trx) =>
        (await passkeys?.remove(trx, id, passkey)) ? true : undefined,
      );
      if (removed) await settings.tell(id, "passkey-removed");
      return removed ?? false;
    },
  };
}
