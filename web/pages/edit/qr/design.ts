import { contrast, parseColour } from "../../../../src/qr/colour.ts";

/** How QR codes look. Kept in this browser, per workspace: a brand has one look. */
export interface QrDesign {
  readonly dark: string;
  readonly light: string;
  /** Without a background; `light` is what it will be printed on. */
  readonly isTransparent: boolean;
  readonly margin: number;
  readonly level: "L" | "M" | "Q" | "H";
  /** A data URL. */
  readonly logo: string | null;
  readonly pngPixels: number;
}

export const plainDesign: QrDesign = {
  ...{ dark: "#000000", light: "#ffffff", isTransparent: false, margin: 4, level: "M", logo: null, pngPixels: 1_024 },
};

export const pngSizes = [256, 512, 1_024, 2_048] as const;
export const marginMost = 10;
export const logoMostBytes = 300_000;
export const logoTypes = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"] as const;

export const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** As `src/qr/qr.ts` demands it. */
export const contrastLeast = 3;

export function contrastOf({ dark, light }: QrDesign): number {
  if (!isColour(dark) || !isColour(light)) return contrastLeast;
  return contrast(parseColour(dark), parseColour(light));
}

/** Whether the squares are lighter than the ground. */
export function isInverted({ dark, light }: QrDesign): boolean {
  const white = parseColour("#ffffff");
  return contrast(parseColour(dark), white) < contrast(parseColour(light), white);
}
