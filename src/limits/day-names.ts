import { createHmac } from "node:crypto";
import { type Clock, toIso } from "../base/clock.ts";

/**
 * What a network is called where it is counted: a keyed hash, under a key of the day. Nothing that is stored, sent or kept
 * could be turned back into an address, and nothing of today can be compared with tomorrow's.
 */
export type DayNames = (network: string) => string;

const hashBytes = 16;

/** `purpose` keeps what is counted for one thing apart from all others. */
export function createDayNames(purpose: string, secretFor: (purpose: string) => Uint8Array, clock: Clock): DayNames {
  let today: { readonly date: string; readonly key: Uint8Array } = { date: "", key: new Uint8Array() };
  return (network) => {
    const date = toIso(clock.now()).slice(0, 10);
    if (today.date !== date) today = { date, key: secretFor(`${purpose} ${date}`) };
    return createHmac("sha256", today.key).update(network).digest().subarray(0, hashBytes).toString("base64url");
  };
}
