/** Visitors of the hot links in both regions, all the time; and editors, each with their own links. */
import { editOne, type HotLink } from "../coherence/hot-link.ts";
import type { Record } from "../coherence/record.ts";
import { startVisitors, type Visitors } from "../coherence/visitors.ts";
import { type Region, regions, type Site } from "./site.ts";

const visitorsEach = 3;
const pauseMs = 3;
const editors = 4;
const thinkMs = 20;

/** Servers are recorded in the order of `regions`. */
export const visit = ({ servers, links, idle }: Site, record: Record): Visitors =>
  startVisitors({
    ...{ servers: regions.map((region) => servers[region]), links, idle, record, each: visitorsEach, pauseMs },
  });

/** For so long, each edit acknowledged before the same link is edited again. */
export async function edit(
  { servers, links }: Site,
  record: Record,
  through: readonly Region[],
  forMs: number,
): Promise<void> {
  const until = performance.now() + forMs;
  await Promise.all(
    Array.from({ length: editors }, async (_, editor) => {
      const own = links.filter((_, i) => i % editors === editor);
      for (let turn = 0; performance.now() < until; turn++) {
        const link = own[turn % own.length] as HotLink;
        const region = through[link.version % through.length] as Region;
        await editOne(servers[region], link);
        record.ack(link.code, link.version, regions.indexOf(region));
        await Bun.sleep(thinkMs);
      }
    }),
  );
}
