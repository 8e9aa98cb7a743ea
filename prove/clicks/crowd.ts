/** Sends visits over open connections, and remembers which were answered, by which server, and when. */
import { createLine } from "../../bench/line.ts";
import type { Visit } from "./truth.ts";

export interface Crowd {
  /** Everything that was answered with a redirect. */
  readonly served: ServedVisit[];
  /** Cut off: it may have been answered and recorded, or not. */
  readonly unknown: Visit[];
  /** Answered with 503, and tried again later. */
  readonly askedAgain: Visit[];
  /** Until `isEnough`. Each connection takes one of the places. */
  come(places: readonly Place[], isEnough: () => boolean): Promise<void>;
  leave(): void;
}

export interface ServedVisit extends Visit {
  readonly port: number;
  readonly at: number;
}

export interface Place {
  readonly port: number;
  next(): Visit;
}

const connections = 48;
const againMs = 50;

/** `thinkMs`: how long each of them waits after an answer. */
export function createCrowd(thinkMs: number): Crowd {
  const lines = Array.from({ length: connections }, createLine);
  const crowd: Crowd = {
    served: [],
    unknown: [],
    askedAgain: [],
    async come(places, isEnough) {
      await Promise.all(
        lines.map(async (line, at) => {
          const place = places[at % places.length];
          if (place === undefined) throw new Error("there is no server to visit");
          const { port } = place;
          while (!isEnough()) {
            const visit = place.next();
            const { link, person } = visit;
            const answer = await line.ask(port, `/${link.code}${person.query}`, person.headers);
            if (answer === 302) {
              crowd.served.push({ link, person, port, at: performance.now() });
              if (thinkMs > 0) await Bun.sleep(thinkMs);
              continue;
            }
            if (answer === "cut") crowd.unknown.push(visit);
            else if (answer === 503) crowd.askedAgain.push(visit);
            else if (answer !== "unsent") throw new Error(`a visit of ${link.code} was answered with ${answer}`);
            await Bun.sleep(againMs);
          }
        }),
      );
    },
    leave() {
      for (const line of lines) line.hangUp();
    },
  };
  return crowd;
}
