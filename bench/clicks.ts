/**
 * Clicks: what facts about them cost a redirect (`clicks/facts.ts`), how many are recorded per second (`clicks/recording.ts`), how
 * long reports take over a year of them (`clicks/reports.ts`), and what they take on disk (`clicks/sizes.ts`).
 *
 * A hundred million clicks take 12 GB of disk, and twice that while they are written; writing them takes some minutes. Where the disk has less room, the
 * benchmark says so and goes up to ten million. `clicks reports sqlite` is one database alone, in less than ten minutes on two cores.
 */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { startPostgres } from "../test/ground/postgres.ts";
import type { Bench, Figure } from "./bench.ts";
import { factsCost } from "./clicks/facts.ts";
import { type Filled, fill } from "./clicks/fill.ts";
import { recording } from "./clicks/recording.ts";
import { figuresOf, showReports, timeReports } from "./clicks/reports.ts";
import { showSizes } from "./clicks/sizes.ts";
import { type Progress, progress } from "./show.ts";
import { type Database, databases } from "./subject.ts";

const sizes = [1_000_000, 10_000_000, 100_000_000] as const;
const bytesOfClick = 250;

export const clicks: Bench = {
  name: "clicks",
  shows: "CPU of facts per redirect, clicks recorded per second, reports over 1 M to 100 M clicks, and bytes per click",
  needs: ["nginx", "postgresql"],
  parts: ["facts", "recording", "reports", ...databases],
  run,
};

async function run(given: readonly string[]): Promise<readonly Figure[]> {
  const named = databases.filter((database) => given.includes(database));
  const parts = given.filter((part) => !databases.some((database) => database === part));
  const has = (part: string) => parts.length === 0 || parts.includes(part);
  const chosen = named.length === 0 ? databases : named;
  const facts = has("facts") ? await factsCost() : [];
  const shown = progress();
  try {
    if (has("recording")) await recording(chosen, shown);
    return [...facts, ...(has("reports") ? await reports(chosen, shown) : [])];
  } finally {
    shown.end();
  }
}

async function reports(chosen: readonly Database[], shown: Progress): Promise<readonly Figure[]> {
  const { bavail, bsize } = statfsSync(tmpdir());
  const fitting = sizes.filter((clicks) => clicks * bytesOfClick < bavail * bsize);
  if (fitting.length < sizes.length) {
    shown.end();
    console.log(`  ${tmpdir()} has no room for ${sizes.at(-1)?.toLocaleString("en-US")} clicks: they are left out`);
  }
  const postgres = await startPostgres();
  const filled: Filled[] = [];
  try {
    for (const clicks of fitting) filled.push(...(await fill(clicks, chosen, postgres, shown.now)));
    const timed = await timeReports(filled, shown);
    shown.end();
    showReports(timed);
    showSizes(filled);
    return figuresOf(timed);
  } finally {
    for (const { sql } of filled) await sql.close();
    await postgres.stop();
  }
}
