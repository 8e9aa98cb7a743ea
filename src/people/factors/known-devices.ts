import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { type DeviceId, newId, type PersonId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";

/**
 * "Remember this device": a browser that showed a second factor needs none for 30 days. It still needs the password. It has
 * a cookie with 256 random bits, and SQL has a hash of these. All of them end when the password or the second factor
 * changes: somebody who had either may have such a cookie.
 */
export interface KnownDevices {
  /** Returns the value of the cookie. In the caller's transaction. */
  remember(trx: Trx, person: PersonId, device: string): Promise<string>;
  /** Whether the cookie is one of this person. */
  isKnown(person: PersonId, cookie: string | undefined): Promise<boolean>;
  /** Newest first. */
  list(person: PersonId): Promise<readonly KnownDevice[]>;
  /** Returns how many it ended. */
  forget(person: PersonId, which: DeviceId | "all"): Promise<number>;
}

export interface KnownDevice {
  readonly id: DeviceId;
  /** "Firefox on Linux" */
  readonly device: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export const rememberedMs = 30 * 86_400_000;
/** Of one person. The oldest end when there are more. */
export const devicesMost = 20;
export const deviceCookieName = "quicklink-device";
const cookieBytes = 32;
const pattern = /^[\w-]{43}$/;

const hashOf = (cookie: string): string => createHash("sha256").update(cookie).digest("hex");

export function createKnownDevices({ db }: Sql, clock: Clock): KnownDevices {
  return {
    async remember(trx, person, device) {
      const cookie = randomBytes(cookieBytes).toString("base64url");
      const now = clock.now();
      const row = {
        ...{ id: newId("device", clock), person_id: person, hash: hashOf(cookie), device },
        ...{ created_at: now, expires_at: now + rememberedMs },
      };
      await trx.insertInto("known_devices").values(row).execute();
      const newest = trx.selectFrom("known_devices").select("id").where("person_id", "=", person);
      const beyond = await newest.orderBy("id", "desc").offset(devicesMost).limit(devicesMost).execute();
      const ids = beyond.map(({ id }) => id);
      if (ids.length > 0) await trx.deleteFrom("known_devices").where("id", "in", ids).execute();
      return cookie;
    },

    async isKnown(person, cookie) {
      if (cookie === undefined || !pattern.test(cookie)) return false;
      return (await selectDevice.first(db, { person, hash: hashOf(cookie), now: clock.now() })) !== undefined;
    },

    list: (person) => selectDevices.all(db, { person, now: clock.now(), most: devicesMost }),

    async forget(person, which) {
      const own = db.deleteFrom("known_devices").where("person_id", "=", person);
      const { numDeletedRows } = await (which === "all" ? own : own.where("id", "=", which)).executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

const selectDevice = statement(
  (db: Db, { person, hash, now }: Params<{ person: PersonId; hash: string; now: number }>) =>
    db
      .selectFrom("known_devices")
      .select("id")
      .where("hash", "=", hash)
      .where("person_id", "=", person)
      .where("expires_at", ">", now),
);

const selectDevices = statement(
  (db: Db, { person, now, most }: Params<{ person: PersonId; now: number; most: number }>) =>
    db
      .selectFrom("known_devices")
      .select(["id", "device", "created_at as createdAt", "expires_at as expiresAt"])
      .where("person_id", "=", person)
      .where("expires_at", ">", now)
      .orderBy("id", "desc")
      .limit(most),
);
