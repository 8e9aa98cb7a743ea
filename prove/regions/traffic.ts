/** Visitors of the hot links in both regions, all the time; and editors, each with links of its own. */
import { createLine } from "../../bench/line.ts";
import { editOne, type HotLink, versionIn } from "../coherence/hot-link.ts";
import type { Record as Kept } from "../coherence/record.ts";
import { type Region, regions, type Site } from "./site.ts";

/** What visitors of each region saw. */
export type Records = Readonly<Record<Region, Kept>>;

export interface Visitors {
  stop(): Promise<void>;
}

const visitorsEach = 3;
const pauseMs = 3;
const editors = 4;
const thinkMs = 20;

export function startVisitors({ servers, links }: Site, records: Records): Visitors {
  let wanted = true;

  async function visit(region: Region, first: number): Promise<void> {
    const line = createLine();
    for (let i = first; wanted; i++) {
      const { code } = links[i % links.length] as HotLink;
      const before = records[region].highest(0, code);
      const answer = await line.ask(servers[region].port, `/${code}`);
      if (answer === 302) records[region].answer(0, code, versionIn(line.header("location")), before);
      else records[region].noAnswer();
      await Bun.sleep(pauseMs);
    }
    line.hangUp();
  }

  const visits = regions.flatMap((region) =>
    Array.from({ length: visitorsEach }, (_, i) => visit(region, Math.floor((i * links.length) / visitorsEach))),
  );
  return {
    async stop() {
      wanted = false;
      await Promise.all(visits);
    },
  };
}

/** For so long, each edit acknowledged before the same link is edited again. */
export async function edit(
  { servers, links }: Site,
  records: Records,
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
        for (const seenIn of regions) records[seenIn].ack(link.code, link.version);
        await Bun.sleep(thinkMs);
      }
    }),
  );
}
