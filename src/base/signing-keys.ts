import { dayMs, toIso } from "./clock.ts";
import { newKey } from "./seal.ts";
import type { SigningKey } from "./signature.ts";

/**
 * Signing keys as text, in settings and in their file: `name:hex`, comma separated. The first key signs. A previous key
 * may end with `@2027-12-21`, the day (UTC) from which it no longer verifies. A key has 64 hex digits; one made from a
 * previous code salt is as long as the salt.
 */

/** How long a previous key verifies. Unsubscribe links must work longest: a year of mail, plus a month. */
export const verifyDays = 400;
export const signingKeysMost = 32;

const pattern = /^([A-Za-z0-9_-]{1,32}):((?:[0-9a-fA-F]{2}){16,4000})(?:@(\d{4}-\d{2}-\d{2}))?$/;

export function parseSigningKeys(text: string): readonly SigningKey[] {
  const parts = text.split(",");
  if (parts.length > signingKeysMost) throw new Error(`has more than ${signingKeysMost} keys`);
  const keys = parts.map((part): SigningKey => {
    const [, id, hex, day] = pattern.exec(part.trim()) ?? [];
    if (id === undefined || hex === undefined) {
      throw new Error("must be name:64 hex digits, comma separated; a previous key may end with @YYYY-MM-DD");
    }
    const key = { id, key: Buffer.from(hex, "hex") };
    return day === undefined ? key : { ...key, until: timeOf(day) };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error("has two keys with the same name");
  if (keys[0]?.until !== undefined)
    throw new Error("has an end date on its first key; the first key signs and must not have one");
  return keys;
}

function timeOf(day: string): number {
  const time = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(time) || dayOf(time) !== day) throw new Error(`has "${day}", which is not a valid date`);
  return time;
}

export const writeSigningKeys = (keys: readonly SigningKey[]): string =>
  keys
    .map(({ id, key, until }) => {
      const end = until === undefined ? "" : `@${dayOf(until)}`;
      return `${id}:${Buffer.from(key).toString("hex")}${end}`;
    })
    .join(",");

/** Before signing keys existed, the code salt signed. It now counts as a previous key. */
export const saltKey = (salt: string): SigningKey => ({ id: "salt", key: Buffer.from(salt) });

/** Adds a new key in front. The key that signed so far verifies for another `verifyDays`; ended keys are removed. */
export function rotated(keys: readonly SigningKey[], now: number): readonly SigningKey[] {
  const until = Math.ceil(now / dayMs) * dayMs + verifyDays * dayMs;
  const former = keys.map((key): SigningKey => (key.until === undefined ? { ...key, until } : key));
  return [newKey(), ...verifying(former, now)];
}

/** Without ended keys. */
export const verifying = (keys: readonly SigningKey[], now: number): readonly SigningKey[] =>
  keys.filter(({ until = Number.POSITIVE_INFINITY }) => until > now);

export const dayOf = (time: number): string => toIso(time).slice(0, 10);
