import { createHash } from "node:crypto";
import { type Colour, contrast, parseColour } from "../qr/colour.ts";

/** The look of a workspace on pages for visitors, ready to be used by `redirect/error-pages.ts`. */
export interface Brand {
  readonly name: string | null;
  /** Path of the logo on any of our hosts. */
  readonly logo: string | null;
  /** Empty if the workspace has no colour. */
  readonly style: string;
  /** For the page's policy: `'sha256-…'` */
  readonly styleHash: string;
}

/** What the owner chose. */
export interface BrandFields {
  readonly name: string | null;
  /** `#rrggbb` */
  readonly colour: string | null;
  /** Of the logo. */
  readonly logoHash: string | null;
}

export const logoPrefix = "/brand/";

export function toBrand({ name, colour, logoHash }: BrandFields): Brand {
  const style = colour === null ? "" : styleOf(readableColours(colour));
  return {
    name,
    logo: logoHash === null ? null : `${logoPrefix}${logoHash}`,
    style,
    styleHash: `'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  };
}

export interface ReadableColours {
  readonly light: string;
  readonly dark: string;
}

const styleOf = ({ light, dark }: ReadableColours): string =>
  `:root{--accent:${light}}@media (prefers-color-scheme:dark){:root{--accent:${dark}}}`;

/** AA for text, on the cards of the pages. */
const least = 4.5;
const steps = 50;
const card = { light: parseColour("#ffffff"), dark: parseColour("#15161a") };

/** The colour itself where it can be read; else the nearest one that can, darker on light pages and lighter on dark ones. */
export function readableColours(text: string): ReadableColours {
  const colour = parseColour(text);
  return { light: readableOn(card.light, colour, 0), dark: readableOn(card.dark, colour, 255) };
}

function readableOn(ground: Colour, colour: Colour, towards: 0 | 255): string {
  for (let step = 0; step < steps; step++) {
    const mixed = mix(colour, towards, step / steps);
    if (contrast(mixed, ground) >= least) return toHex(mixed);
  }
  return toHex(mix(colour, towards, 1));
}

function mix({ red, green, blue }: Colour, towards: number, share: number): Colour {
  const part = (value: number) => Math.round(value + (towards - value) * share);
  return { red: part(red), green: part(green), blue: part(blue), alpha: 255 };
}

const toHex = ({ red, green, blue }: Colour): string =>
  `#${[red, green, blue].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
