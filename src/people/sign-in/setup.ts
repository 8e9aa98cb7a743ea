import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import { recordHistory } from "../../history/history.ts";
import { isUniqueViolation, type Sql } from "../../sql/sql.ts";
import { type Db, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import type { People } from "../people.ts";
import type { PersonTokens } from "../tokens.ts";

/**
 * The first operator of an installation, new or upgraded. Whoever reads the machine's terminal, or can run a command on it,
 * gets a token; with it they become operator, and owner of the workspace `default`. From then on there is an operator, and
 * this door is closed. People without that right do not close it: a stranger who signs up first must not keep the operator out.
 */
export interface SetUp {
  isOpen(): Promise<boolean>;
  /** A token for a person who can read this machine's screen; `undefined` if the door is closed. */
  issue(): Promise<string | undefined>;
  isValid(token: string): Promise<boolean>;
  /** Throws `set_up_already`, also for the second of two at the same time, or `token_invalid`. */
  complete(token: string, first: FirstPerson): Promise<PersonId>;
}

export interface FirstPerson {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

export interface SetUpSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly people: Pick<People, "createIn">;
  readonly tokens: PersonTokens;
}

export const setUpMs = 24 * 3_600_000;
const firstWorkspace = "default";

/** A row with a fixed key: of two transactions that insert it, the second waits for the first, and then fails. */
const turnstile = "set-up";
const turnstileMs = 60_000;

export const invalidToken = (): Problem =>
  new Problem("token_invalid", "This link was used before, has expired or is incomplete. Ask for a new one.");

export const setUpAlready = (): Problem =>
  new Problem("set_up_already", "This server is set up already. Sign in, or ask for an invitation.");

export function createSetUp({ sql, clock, people, tokens }: SetUpSettings): SetUp {
  const { db } = sql;
  /** Remembered: anybody can ask, and an operator always remains. */
  let isClosed = false;

  async function isOpen(): Promise<boolean> {
    isClosed ||= await hasOperator(db);
    return !isClosed;
  }

  async function passAlone(trx: Trx): Promise<void> {
    const now = clock.now();
    await trx.deleteFrom("person_tokens").where("hash", "=", turnstile).where("expires_at", "<=", now).execute();
    const row = { hash: turnstile, kind: "turnstile", person_id: null, data: null };
    await trx
      .insertInto("person_tokens")
      .values({ ...row, created_at: now, expires_at: now + turnstileMs })
      .execute();
    if (await hasOperator(trx)) throw setUpAlready();
  }

  async function joinFirstWorkspace(trx: Trx, person: PersonId): Promise<void> {
    const tenants = trx.selectFrom("tenants").select("id").where("slug", "=", firstWorkspace);
    const tenant = await tenants.executeTakeFirst();
    if (tenant === undefined) return;
    const own = ofTenant(trx, tenant.id);
    await own.insertInto("members").values({ person_id: person, role: "owner", created_at: clock.now() }).execute();
    await recordHistory(trx, clock, {
      ...{ tenant: tenant.id, actor: { kind: "person", id: person }, action: "member.add" },
      ...{ subject: { kind: "person", id: person }, after: { role: "owner" } },
    });
  }

  return {
    isOpen,

    async issue() {
      if (!(await isOpen())) return undefined;
      return await tokens.issue(db, { kind: "setup", person: null, lifeMs: setUpMs });
    },

    isValid: async (token) => (await tokens.peek(db, "setup", token)) !== undefined,

    async complete(token, first) {
      try {
        return await sql.transaction(async (trx) => {
          await passAlone(trx);
          if ((await tokens.use(trx, "setup", token)) === undefined) throw invalidToken();
          await trx.deleteFrom("person_tokens").where("kind", "=", "setup").execute();
          const who = { ...first, isVerified: false, isOperator: true };
          const person = await people.createIn(trx, who, { kind: "nobody" });
          await joinFirstWorkspace(trx, person);
          return person;
        });
      } catch (error) {
        if (isUniqueViolation(error)) throw setUpAlready();
        throw error;
      }
    },
  };
}

const hasOperator = async (db: Db | Trx): Promise<boolean> =>
  (await db.selectFrom("people").select("id").where("operator", "=", 1).limit(1).executeTakeFirst()) !== undefined;
