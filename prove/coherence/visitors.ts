/** Visitors who request watched links all the time, and sometimes one that is never changed. */
import { createLine } from "../../bench/line.ts";
import type { Server } from "../../test/ground/server.ts";
import type { Record } from "./record.ts";

/** A link whose answers tell a version. */
export interface Watched {
  readonly code: string;
  /** `undefined` if the link never had this answer. */
  versionOf(status: number, location: string | undefined): number | undefined;
}

export interface Visitors {
  stop(): Promise<void>;
}

export interface VisitorSettings {
  /** By place, for the last of them may be another one after a restart. */
  readonly servers: readonly Server[];
  readonly links: readonly Watched[];
  /** The code of a link that is in memory and stays as it is. */
  readonly idle: string;
  readonly record: Record;
  readonly each: number;
  readonly pauseMs: number;
}

const retryMs = 20;
const idleEvery = 10;

export function startVisitors({ servers, links, idle, record, each, pauseMs }: VisitorSettings): Visitors {
  let wanted = true;

  async function visit(place: number, first: number): Promise<void> {
    const line = createLine();
    for (let i = first; wanted; i++) {
      const port = servers[place]?.port ?? 0;
      if (i % idleEvery === 0) {
        const sent = performance.now();
        if ((await line.ask(port, `/${idle}`)) === 302) record.idle(place, performance.now() - sent);
      }
      const link = links[i % links.length] as Watched;
      const { code } = link;
      const before = record.before(place, code);
      const answer = await line.ask(port, `/${code}`);
      if (typeof answer !== "number") record.noAnswer(place, "lost");
      else if (answer === 503) record.noAnswer(place, "unanswered");
      else {
        const location = line.header("location");
        const version = link.versionOf(answer, location);
        if (version === undefined) record.wrong(place, `${code}: ${answer} ${location ?? ""}`.trim());
        else record.answer(place, code, version, before);
      }
      await Bun.sleep(typeof answer === "number" ? pauseMs : retryMs); // one that was killed is on its way back
    }
    line.hangUp();
  }

  const visits = servers.flatMap((_, place) =>
    Array.from({ length: each }, (_, i) => visit(place, Math.floor((i * links.length) / each))),
  );
  return {
    async stop() {
      wanted = false;
      await Promise.all(visits);
    },
  };
}
