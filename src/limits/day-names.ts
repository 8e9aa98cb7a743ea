import { createHmac } from "node:crypto";
import { type Clock, toIso } from "../base/clock.ts";

/**
 * The name under which a network is counted: a hash with a key of the day. Nothing that is stored, sent or kept can be
 * turned back into an address, and no name of today can be compared with tomorrow's.
 */
export type DayNames = (network: string) => string;

const hashBytes = 16;

/** `purpose` separates counters of different kinds. */
export function createDayNames(purpose: string, secretFor: (purpose: string) => Uint8Array, clock: Clock): DayNames {
  let today: { readonly date: string; readonly key: Uint8Array } = { date: "", key: new Uint8Array() };
  return (network) => {
    const date = toIso(clock.now()).slice(0, 10);
    if (today.date !== date) today = { date, key: secretFor(`${purpose} ${date}`) };
    return createHmac("sha256", today.key).update(network).digest().subarray(0, hashBytes).toString("base64url");
  };
}
