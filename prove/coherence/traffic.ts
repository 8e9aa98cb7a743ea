/** Visitors of the hot links on every server, without a pause; and editors, each with their own links. */
import type { Server } from "../../test/ground/server.ts";
import { editOne, type HotLink } from "./hot-link.ts";
import type { Record } from "./record.ts";
import type { Site } from "./site.ts";
import { startVisitors, type Visitors } from "./visitors.ts";

const visitorsEach = 4;
const pauseMs = 2;
const editors = 4;

export const visit = (site: Site, record: Record): Visitors =>
  startVisitors({ ...site, record, each: visitorsEach, pauseMs });

/** This many edits in total, each acknowledged before the same link is edited again. `onEdit` gets the count so far. */
export async function edit(site: Site, record: Record, count: number, onEdit: (done: number) => void): Promise<void> {
  let [begun, done] = [0, 0];
  await Promise.all(
    Array.from({ length: editors }, async (_, editor) => {
      const own = site.links.filter((_, i) => i % editors === editor);
      while (begun < count) {
        const turn = begun++;
        const link = own[turn % own.length] as HotLink;
        const writer = link.version % site.servers.length;
        await editOne(site.servers[writer] as Server, link);
        record.ack(link.code, link.version, writer);
        onEdit(++done);
      }
    }),
  );
}
