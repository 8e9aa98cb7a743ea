/** Cuts shapes where the map ends: the atlas has Russia and Fiji in one piece, across 180°. */
export type Point = readonly [longitude: number, latitude: number];

export function cutAtAntimeridian(ring: readonly Point[]): readonly (readonly Point[])[] {
  const whole = unwrapped(ring);
  if (whole.every(([longitude]) => Math.abs(longitude) <= 180)) return [whole];
  return [-360, 0, 360]
    .map((turn) => whole.map(([longitude, latitude]) => [longitude + turn, latitude] as const))
    .map((turned) => keep(keep(turned, 180, -1), -180, 1))
    .filter((part) => part.length > 2);
}

/** No step is longer than half a turn. */
function unwrapped(ring: readonly Point[]): readonly Point[] {
  let turn = 0;
  return ring.map(([longitude, latitude], at) => {
    const before = ring[at - 1]?.[0] ?? longitude;
    if (longitude - before > 180) turn -= 360;
    if (longitude - before < -180) turn += 360;
    return [longitude + turn, latitude] as const;
  });
}

/** What is east (1) or west (-1) of a meridian, by Sutherland and Hodgman. */
function keep(ring: readonly Point[], meridian: number, side: 1 | -1): readonly Point[] {
  const isIn = ([longitude]: Point) => (longitude - meridian) * side >= 0;
  return ring.flatMap((point, at): Point[] => {
    const before = ring.at(at - 1) ?? point;
    if (isIn(point) === isIn(before)) return isIn(point) ? [point] : [];
    const share = (meridian - before[0]) / (point[0] - before[0]);
    const edge: Point = [meridian, before[1] + share * (point[1] - before[1])];
    return isIn(point) ? [edge, point] : [edge];
  });
}
