import { randomBytes } from "node:crypto";
import { type Clock, dayMs } from "../../base/clock.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Signer } from "../../base/signature.ts";
import type { SessionCookie } from "../../http/session-cookie.ts";

/**
 * Which people have signed in with a browser before: signed entries in a cookie of the browser, nothing on the server. An
 * entry lets nobody in. It gives the browser its own budget of tries while strangers guess at the account, and its
 * person no mail about a new device.
 */
export interface KnownBrowsers {
  /** What the browser is called for this person; `undefined` if they have not signed in with it. */
  nameFor(cookies: string | null, person: PersonId): string | undefined;
  /** `Set-Cookie` that adds the person. */
  remember(cookies: string | null, person: PersonId): string;
}

const rememberDays = 400; // browsers keep no cookie for longer
/** A browser of a whole office; cookies are limited to 4,096 bytes. */
const peopleMost = 8;
const nameBytes = 12;
const pattern = /^([\w-]{16})\.([0-9a-z]{1,6})\.([\w-]{43})$/;

interface Entry {
  readonly name: string;
  readonly untilDay: number;
  readonly signature: string;
}

export function createKnownBrowsers(cookie: SessionCookie, signer: Signer, clock: Clock): KnownBrowsers {
  const signed = (person: PersonId, { name, untilDay }: Omit<Entry, "signature">) => `${person} ${name} ${untilDay}`;
  const today = () => Math.floor(clock.now() / dayMs);

  const entriesIn = (cookies: string | null): Entry[] =>
    (cookie.read(cookies) ?? "")
      .split("~", peopleMost)
      .flatMap((text) => {
        const [, name = "", until = "", signature = ""] = pattern.exec(text) ?? [];
        return name === "" ? [] : [{ name, untilDay: Number.parseInt(until, 36), signature }];
      })
      .filter(({ untilDay }) => untilDay >= today());

  const isOf = (person: PersonId, entry: Entry) => signer.isSigned(signed(person, entry), entry.signature);

  return {
    nameFor: (cookies, person) => entriesIn(cookies).find((entry) => isOf(person, entry))?.name,

    remember(cookies, person) {
      const entries = entriesIn(cookies);
      const known = entries.find((entry) => isOf(person, entry));
      const name = known?.name ?? randomBytes(nameBytes).toString("base64url");
      const fresh = { name, untilDay: today() + rememberDays };
      const entry = { ...fresh, signature: signer.sign(signed(person, fresh)) };
      const all = [entry, ...entries.filter((one) => one !== known)].slice(0, peopleMost);
      const text = all
        .map(({ name, untilDay, signature }) => `${name}.${untilDay.toString(36)}.${signature}`)
        .join("~");
      return cookie.write(text, rememberDays * 86_400);
    },
  };
}
