/** A colour as `#rrggbb` or `#rrggbbaa`: red, green, blue and how solid it is, each up to 255. */
export interface Colour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

/** The # may be left out, for in an address it has to be written as %23. */
export const colourPattern = /^#?[0-9a-f]{6}(?:[0-9a-f]{2})?$/i;

export function parseColour(text: string): Colour {
  const hex = text.replace("#", "").padEnd(8, "f");
  const part = (place: number) => Number.parseInt(hex.slice(place, place + 2), 16);
  return { red: part(0), green: part(2), blue: part(4), alpha: part(6) };
}

const white: Colour = { red: 255, green: 255, blue: 255, alpha: 255 };

/**
 * From 1 (the same) to 21 (black and white), as WCAG reckons it: what a camera has to tell the two apart by. Where they
 * let something through, it is taken to be white.
 */
export function contrast(dark: Colour, light: Colour): number {
  const ground = over(light, white);
  const [high, low] = [luminance(ground), luminance(over(dark, ground))].sort((a, b) => b - a);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

function over(top: Colour, ground: Colour): Colour {
  const mix = (a: number, b: number) => (a * top.alpha + b * (255 - top.alpha)) / 255;
  return {
    red: mix(top.red, ground.red),
    green: mix(top.green, ground.green),
    blue: mix(top.blue, ground.blue),
    alpha: 255,
  };
}

function luminance({ red, green, blue }: Colour): number {
  const linear = (value: number) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
