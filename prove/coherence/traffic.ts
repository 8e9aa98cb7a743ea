/** Visitors of the hot links on every server, without a pause; and editors, each with links of its own. */
import type { Server } from "../../test/ground/server.ts";
import { editOne, type HotLink, versionIn } from "./hot-link.ts";
import type { Record } from "./record.ts";
import type { Site } from "./site.ts";

export interface Visitors {
  stop(): Promise<void>;
}

const visitorsPerServer = 4;
const pauseMs = 2;
const retryMs = 20;
const requestMs = 10_000;
const editors = 4;
const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0" };

export function startVisitors({ servers, links }: Site, record: Record): Visitors {
  let wanted = true;

  async function visit(place: number, first: number): Promise<void> {
    for (let i = first; wanted; i++) {
      const { code } = links[i % links.length] as HotLink;
      const before = record.highest(place, code);
      try {
        const signal = AbortSignal.timeout(requestMs);
        const url = `${servers[place]?.url}/${code}`;
        const response = await fetch(url, { redirect: "manual", headers: browser, signal });
        await response.arrayBuffer();
        if (response.status === 302) record.answer(place, code, versionIn(response.headers.get("location")), before);
        else record.noAnswer();
        await Bun.sleep(pauseMs);
      } catch {
        record.noAnswer();
        await Bun.sleep(retryMs); // it was killed, and is on its way back
      }
    }
  }

  const visits = servers.flatMap((_, place) =>
    Array.from({ length: visitorsPerServer }, (_, i) =>
      visit(place, Math.floor((i * links.length) / visitorsPerServer)),
    ),
  );
  return {
    async stop() {
      wanted = false;
      await Promise.all(visits);
    },
  };
}

/** So many edits in all, each acknowledged before the same link is edited again. `onEdit` is told how many there were. */
export async function edit(site: Site, record: Record, count: number, onEdit: (done: number) => void): Promise<void> {
  let [begun, done] = [0, 0];
  await Promise.all(
    Array.from({ length: editors }, async (_, editor) => {
      const own = site.links.filter((_, i) => i % editors === editor);
      while (begun < count) {
        const turn = begun++;
        const link = own[turn % own.length] as HotLink;
        await editOne(site.servers[link.version % site.servers.length] as Server, link);
        record.ack(link.code, link.version);
        onEdit(++done);
      }
    }),
  );
}
