/**
 * What the operator changes, and is not in a link's destination: suspensions, plans, limits. Each is switched on and
 * off by the real command, and every link of a tenant answers in one of two ways. A switch is a version: since the next
 * one starts only when this one was seen everywhere, or must have been, an answer of the other kind is the previous
 * version.
 */
import { until } from "../../test/ground/process.ts";
import { createRecord, type Recorded } from "./record.ts";
import type { Site } from "./site.ts";
import { startVisitors, type Watched } from "./visitors.ts";

export interface Switch {
  readonly name: string;
  /** What the links answer while it is on; 302 while it is off. */
  readonly status: number;
  readonly on: readonly string[];
  readonly off: readonly string[];
}

export interface SwitchedLink {
  readonly code: string;
  readonly url: string;
}

export const switchedTenant = "switched";
export const switchedPlan = "switched";
const update = ["tenant", "update", switchedTenant];
const setPlan = ["plan", "set", switchedPlan];
const why = ["--reason", "a proof"];

export const switches = (link: string): readonly Switch[] => [
  {
    ...{ name: "link_suspended", status: 451 },
    ...{ on: ["link", "suspend", link, ...why], off: ["link", "restore", link] },
  },
  {
    ...{ name: "tenant_suspended", status: 451 },
    ...{ on: ["tenant", "suspend", switchedTenant, ...why], off: ["tenant", "restore", switchedTenant] },
  },
  {
    ...{ name: "limit_changed", status: 429 },
    ...{ on: [...update, "--hits", "0"], off: [...update, "--hits", "plan"] },
  },
  {
    ...{ name: "plan_changed", status: 429 },
    ...{ on: [...update, "--plan", "nothing"], off: [...update, "--plan", switchedPlan] },
  },
  {
    ...{ name: "plan_edited", status: 429 },
    ...{ on: [...setPlan, "--hits", "0"], off: [...setPlan, "--hits", "none"] },
  },
];

const visitorsEach = 3;
const pauseMs = 5;

/** So often on, and off again. What visitors saw, by server. */
export async function flip(
  site: Site,
  { status: onStatus, on, off }: Switch,
  links: readonly SwitchedLink[],
  times: number,
  inTimeMs: number,
): Promise<Recorded[]> {
  const record = createRecord(site.servers.length);
  let begun = 1; // odd: off
  const watched = links.map(
    ({ code, url }): Watched => ({
      code,
      versionOf(status, location) {
        const isOn = status === onStatus;
        if (!isOn && (status !== 302 || location !== url)) return undefined;
        return isOn === (begun % 2 === 0) ? begun : begun - 1;
      },
    }),
  );
  const visitors = startVisitors({ ...site, links: watched, record, each: visitorsEach, pauseMs });
  const seenByAll = () =>
    watched.every(({ code }) => [...site.servers.keys()].every((server) => record.seen(server, code) === begun)) ||
    undefined;
  try {
    await until("the links to be visited", seenByAll);
    for (let i = 0; i < 2 * times; i++) {
      begun++;
      await site.command(...(begun % 2 === 0 ? on : off));
      for (const { code } of watched) record.ack(code, begun, undefined);
      await until("all servers to have it", seenByAll, inTimeMs).catch(() => {}); // the record says how late it is
    }
  } finally {
    await visitors.stop();
  }
  return record.conclude();
}
