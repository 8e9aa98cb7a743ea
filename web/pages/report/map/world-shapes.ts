import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import atlas from "world-atlas/countries-110m.json" with { type: "json" };
import { cutAtAntimeridian, type Point } from "./antimeridian.ts";
import { countryCode } from "./country-codes.ts";
import { project } from "./projection.ts";

/**
 * The shapes of countries as SVG paths. This runs when the dashboard is bundled (`with { type: "macro" }`), so that a browser
 * gets paths and neither the atlas nor the code that reads it.
 */
export interface Shape {
  /** Two letters; empty for areas without a code of their own. */
  readonly code: string;
  readonly path: string;
}

const cut = (ring: readonly (readonly number[])[]) =>
  cutAtAntimeridian(ring.map(([longitude = 0, latitude = 0]) => [longitude, latitude]));

export function worldShapes(): Shape[] {
  const topology = atlas as unknown as Topology<{ countries: GeometryCollection<{ name: string }> }>;
  return feature(topology, topology.objects.countries).features.flatMap(({ id, geometry, properties }) => {
    const code = countryCode(id === undefined ? undefined : String(id), properties.name) ?? "";
    if (code === "AQ") return [];
    const polygons =
      geometry.type === "Polygon"
        ? [geometry.coordinates]
        : geometry.type === "MultiPolygon"
          ? geometry.coordinates
          : [];
    return [{ code, path: polygons.flatMap((rings) => rings.flatMap(cut).map(pathOf)).join("") }];
  });
}

/** In tenths of a unit and relative to the point before: half as long as whole coordinates. */
function pathOf(ring: readonly Point[]): string {
  let [lastX, lastY] = [0, 0];
  let path = "";
  for (const [longitude, latitude] of ring) {
    const [x, y] = project(longitude, latitude).map((value) => Math.round(value * 10)) as [number, number];
    if (path !== "" && x === lastX && y === lastY) continue;
    path += path === "" ? `M${x / 10} ${y / 10}` : `l${(x - lastX) / 10} ${(y - lastY) / 10}`;
    [lastX, lastY] = [x, y];
  }
  return `${path}z`;
}
