/**
 * Roll-ups drawn from the same distribution as the events, packed by the code that packs real ones: condensing a hundred
 * million clicks takes hours of CPU, and reports read the same rows. A row of a few thousand clicks has each click
 * drawn; a larger one has `drawnMost` drawn and scaled, which is enough for as many values as a roll-up keeps.
 *
 * Links that are not reported on get copies: one of a few rows with about as many clicks.
 */
import { dimensions, isPerson, quarterMs } from "../../src/clicks/click.ts";
import { type PackedTally, writeTally } from "../../src/clicks/rollups/packed.ts";
import { addCounts, addValue, newTally, type Tally } from "../../src/clicks/rollups/tally.ts";
import { draw, drawFact, firsts, quarters, type Random, reasons, type Spread, textOf } from "./spread.ts";

const drawnMost = 5_000;

interface TallyPeriod {
  readonly start: number;
  readonly first?: number;
  readonly last?: number;
  /** Of a group: which links its clicks are of, counted from 0. */
  readonly links?: Spread | undefined;
}

/** A tally of so many clicks from `start` on, in the quarters of a day from `first` up to `last`. */
export function makeTally(clicks: number, { start, first = 0, last = 96, links }: TallyPeriod, random: Random): Tally {
  const tally = newTally();
  const drawn = Math.min(clicks, drawnMost);
  for (let n = 0; n < drawn; n++) {
    // A share of the rounding for each, so that they add up.
    const each = Math.floor(((n + 1) * clicks) / drawn) - Math.floor((n * clicks) / drawn);
    const reason = draw(reasons, random);
    const isOfPerson = isPerson(reason);
    const isFirst = isOfPerson && (draw(firsts, random) & 1) !== 0;
    const quarter = first + ((draw(quarters, random) - first + 96) % (last - first));
    addCounts(tally, start + (quarter - first) * quarterMs, reason, each, isFirst ? each : 0);
    const values = isOfPerson ? tally.people : tally.rest;
    for (const [place, dimension] of dimensions.entries()) {
      addValue(values, dimension, textOf(drawFact(place, isOfPerson, random)), each, isFirst ? each : 0);
    }
    if (links !== undefined) addValue(values, "link", `${draw(links, random) + 1}`, each, isFirst ? each : 0);
  }
  tally.itemised = clicks;
  return tally;
}

const copiesOfSize = 6;

/** Rows of links that are not reported on. `days`: the length of a period that counts by day. */
export function createCopies(random: Random, days?: number): (clicks: number) => PackedTally {
  const made = new Map<number, PackedTally[]>();
  return (clicks) => {
    // Sizes are 10 % apart.
    const size = clicks < 10 ? clicks : Math.round(1.1 ** Math.round(Math.log(clicks) / Math.log(1.1)));
    let rows = made.get(size);
    if (rows === undefined) {
      rows = Array.from({ length: copiesOfSize }, () => {
        const tally = makeTally(size, { start: 0 }, random);
        return writeTally(days === undefined ? tally : byDay(tally, days), 0);
      });
      made.set(size, rows);
    }
    return rows[random() % copiesOfSize] as PackedTally;
  };
}

/** The series has a point for each day: its quarters become days. */
function byDay(tally: Tally, days: number): Tally {
  const series = [...tally.series].map(([at, counts]) => [((at / quarterMs) % days) * 96 * quarterMs, counts] as const);
  return { ...tally, series: new Map(series) };
}
