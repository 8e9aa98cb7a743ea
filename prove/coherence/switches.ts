/**
 * What is not in a link's destination: suspensions, plans and limits, which the operator changes with the real commands
 * (`commands`); and whether there is a link at all (`creation`), by the API. Each is switched on and off, and every link
 * answers in one of two ways. A switch is a version: since the next one starts only when this one was seen everywhere,
 * or must have been, an answer of the other kind is the previous version.
 */
import { authorization } from "../../bench/subject.ts";
import { until } from "../../test/ground/process.ts";
import type { Server } from "../../test/ground/server.ts";
import { createRecord, type Recorded } from "./record.ts";
import type { Site } from "./site.ts";
import { startVisitors, type Watched } from "./visitors.ts";

export interface Switch {
  readonly name: string;
  readonly links: readonly SwitchedLink[];
  /** What the links answer while it is on; 302 while it is off. */
  readonly status: number;
  readonly onAtFirst: boolean;
  /** Reports each acknowledged change; `writer` is the server that acknowledged it, if any. */
  turn(on: boolean, acked: (link: SwitchedLink, writer?: number) => void): Promise<void>;
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

interface Command {
  readonly name: string;
  readonly status: number;
  readonly on: readonly string[];
  readonly off: readonly string[];
}

const commandsOf = (link: string): readonly Command[] => [
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

export function commands(site: Site): Switch[] {
  const [first] = site.switched;
  return commandsOf(first?.code ?? "").map(({ name, status, on: onCommand, off: offCommand }) => {
    const links = name === "link_suspended" ? site.switched.slice(0, 1) : site.switched;
    return {
      ...{ name, links, status, onAtFirst: false },
      async turn(on, acked) {
        await site.command(...(on ? onCommand : offCommand));
        for (const link of links) acked(link);
      },
    };
  });
}

/** Links that are requested before they exist, created, deleted, and restored from the trash. */
export function creation(site: Site, count: number): Switch {
  const links = Array.from({ length: count }, (_, i) => {
    const code = `created-${i}`;
    return { code, url: `https://example.com/${code}` };
  });
  const ids = new Map<string, string>();
  let turns = 0;
  return {
    ...{ name: "created_and_deleted", links, status: 404, onAtFirst: true },
    async turn(on, acked) {
      const first = turns++;
      for (const [i, link] of links.entries()) {
        const writer = (first + i) % site.servers.length;
        const server = site.servers[writer] as Server;
        if (on) await remove(server, ids.get(link.code) ?? "");
        else await createOrRestore(server, link, ids);
        acked(link, writer);
      }
    },
  };
}

/** Created the first time. Deleted, it keeps its code and comes back. */
async function createOrRestore(server: Server, link: SwitchedLink, ids: Map<string, string>): Promise<void> {
  const id = ids.get(link.code);
  if (id === undefined) {
    ids.set(link.code, await create(server, link));
    return;
  }
  const headers = authorization(server);
  const response = await fetch(`${server.url}/api/trash/${id}/restore`, { method: "POST", headers });
  if (!response.ok) throw new Error(`${link.code} could not be restored: ${await response.text()}`);
}

async function create(server: Server, { code, url }: SwitchedLink): Promise<string> {
  const body = JSON.stringify({ code, url });
  const response = await fetch(`${server.url}/api/links`, { method: "POST", headers: authorization(server), body });
  if (response.status !== 201) throw new Error(`${code} could not be created: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

async function remove(server: Server, id: string): Promise<void> {
  const response = await fetch(`${server.url}/api/links/${id}`, { method: "DELETE", headers: authorization(server) });
  if (!response.ok) throw new Error(`${id} could not be deleted: ${await response.text()}`);
}

const visitorsEach = 3;
const pauseMs = 5;

/** So often there, and back again. What visitors saw, by server. */
export async function flip(
  site: Site,
  { links, status: onStatus, onAtFirst, turn }: Switch,
  times: number,
  inTimeMs: number,
): Promise<Recorded[]> {
  const record = createRecord(site.servers.length);
  let begun = 1; // odd: as at first
  const watched = links.map(
    ({ code, url }): Watched => ({
      code,
      versionOf(status, location) {
        const isOn = status === onStatus;
        if (!isOn && (status !== 302 || location !== url)) return undefined;
        const asAtFirst = isOn === onAtFirst;
        return asAtFirst === (begun % 2 === 1) ? begun : begun - 1;
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
      const on = (begun % 2 === 1) === onAtFirst;
      await turn(on, ({ code }, writer) => record.ack(code, begun, writer));
      await until("all servers to have it", seenByAll, inTimeMs).catch(() => {}); // the record says how late it is
    }
  } finally {
    await visitors.stop();
  }
  return record.conclude();
}
