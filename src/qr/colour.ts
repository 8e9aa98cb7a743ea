/** A colour as `#rrggbb` or `#rrggbbaa`: red, green, blue and opacity, each from 0 to 255. */
export interface Colour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

/** The # is optional, because a URL must encode it as %23. */
export const colourPattern = /^#?[0-9a-f]{6}(?:[0-9a-f]{2})?$/i;

export function parseColour(text: string): Colour {
  const hex = text.replace("#", "").padEnd(8, "f");
  const part = (place: number) => Number.parseInt(hex.slice(place, place + 2), 16);
  return { red: part(0), green: part(2), blue: part(4), alpha: part(6) };
}

const white: Colour = { red: 255, green: 255, blue: 255, alpha: 255 };

/**
 * The WCAG contrast ratio, from 1 (same colour) to 21 (black and white): how well a camera can tell the two apart.
 * Transparent colours are assumed to be on white.
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
