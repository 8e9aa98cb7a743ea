/** Three or four round ticks from zero that hold `most`. Pure, so that it is tested without a browser. */
export function roundTicks(most: number): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / 4;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, ([1, 2, 2.5, 5, 10].find((one) => one * magnitude >= rough) ?? 10) * magnitude);
  // Clicks are whole: no tick at 2.5.
  const whole = Number.isInteger(step) ? step : Math.ceil(step);
  const count = Math.ceil(most / whole);
  return Array.from({ length: count + 1 }, (_, place) => place * whole);
}

/** Which of `count` places get a label, if there is room for `most` of them: evenly, the last one included. */
export function labelPlaces(count: number, most: number): number[] {
  if (count <= 0) return [];
  if (count <= most) return Array.from({ length: count }, (_, place) => place);
  const step = Math.ceil((count - 1) / Math.max(1, most - 1));
  const places: number[] = [];
  for (let place = count - 1; place >= 0; place -= step) places.unshift(place);
  return places;
}

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** From places and values to pixels. */
export function scales({ width, height, left, right, top, bottom }: Size, count: number, most: number) {
  const inner = width - left - right;
  const step = count > 1 ? inner / (count - 1) : 0;
  return {
    x: (place: number): number => (count > 1 ? left + place * step : left + inner / 2),
    y: (value: number): number => top + (height - top - bottom) * (1 - (most === 0 ? 0 : value / most)),
    /** The place nearest to a pixel. */
    placeAt(pixel: number): number {
      if (count <= 1) return 0;
      return Math.max(0, Math.min(count - 1, Math.round((pixel - left) / step)));
    },
  };
}

export const pathOf = (points: readonly (readonly [number, number])[]): string =>
  points.map(([x, y], place) => `${place === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
