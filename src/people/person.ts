import type { Selectable } from "kysely";
import type { PersonId } from "../base/ids.ts";
import { parseAddress } from "../email/address.ts";
import type { PersonTable } from "../sql/schema.ts";

/** A person with an account. What proves who they are is not here, so that it cannot be shown by mistake. */
export interface Person {
  readonly id: PersonId;
  /** As they wrote it. */
  readonly email: string;
  readonly name: string;
  /** Whether mail to the address reached them. */
  readonly isVerified: boolean;
  /** Runs this server: may see and change what belongs to no workspace. */
  readonly isOperator: boolean;
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly createdAt: number;
}

/**
 * The form in which all spellings of one address are the same, so that a mailbox has one account: compatibility forms
 * folded, lower case, the host in ASCII. A provider that treats `a.b` and `ab` as the same is not asked. `undefined` if it is
 * no address.
 */
export function mailboxOf(email: string): string | undefined {
  const address = parseAddress(email.trim().normalize("NFKC"));
  // Lower case can compose anew: İ becomes i and a dot.
  return address?.toLowerCase().normalize("NFKC").toLowerCase();
}

export const personColumns = [
  ...([
    "id",
    "email",
    "name",
    "password_hash",
    "verified_at",
    "operator",
    "disabled_at",
    "totp",
    "created_at",
  ] as const),
] as const;

export type PersonRow = Pick<Selectable<PersonTable>, (typeof personColumns)[number]>;

export const toPerson = (row: PersonRow): Person => ({
  id: row.id,
  email: row.email,
  name: row.name,
  isVerified: row.verified_at !== null,
  isOperator: row.operator === 1,
  hasPassword: row.password_hash !== null,
  hasTotp: row.totp !== null,
  createdAt: row.created_at,
});
