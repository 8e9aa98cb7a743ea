/**
 * The second region far from the limits Redis and the primary: every answer of theirs comes 120 ms later. Busy links
 * with a limit request leases ahead, so their redirects take no longer than before.
 *
 * Compared with the same visits of the same run before. A visit as slow as one remote answer has waited for it.
 */
import { createLine } from "../../bench/line.ts";
import { round } from "../../bench/show.ts";
import { authorization } from "../../bench/subject.ts";
import type { Server } from "../../test/ground/server.ts";
import type { Claim } from "../proof.ts";
import type { Site } from "./site.ts";

export const farAway = "far";

const farMs = 120;
const linkCount = 6;
const pauseMs = 15;
/** Percent of the visits, more than when both were near. */
const slowMost = 1;

interface Measured {
  readonly visits: number;
  readonly unanswered: number;
  readonly slow: number;
  readonly p50: number;
  readonly p99: number;
}

export async function busyLinksDoNotWait({ servers, far }: Site, short: boolean): Promise<Claim[]> {
  const [warmMs, measuredMs] = short ? [3_000, 3_000] : [4_000, 6_000];
  const codes = Array.from({ length: linkCount }, (_, i) => `busy-${i}`);
  for (const code of codes) {
    const response = await fetch(`${servers.a.url}/api/links`, {
      method: "POST",
      headers: authorization(servers.a),
      body: JSON.stringify({ code, url: "https://example.com/", hitsPerMonth: 1_000_000 }),
    });
    if (response.status !== 201) throw new Error(`${code} could not be made: ${response.status}`);
  }
  const { port } = servers.b;
  await visitAll(port, codes, warmMs);
  const near = await visitAll(port, codes, measuredMs);
  far(farMs);
  // The first leases after the change were asked for as if both were near.
  await visitAll(port, codes, warmMs);
  const away = await visitAll(port, codes, measuredMs);
  const apiMs = await listLinks(servers.b);
  far(0);
  for (const [name, one] of [["near", near] as const, ["far", away] as const]) {
    console.log(
      `ledger_and_primary=${name} visits=${one.visits} ` +
        `unanswered=${one.unanswered} waited=${one.slow} p50_ms=${round(one.p50, 1)} p99_ms=${round(one.p99, 1)}`,
    );
  }
  const percent = ({ slow, unanswered, visits }: Measured) => (100 * (slow + unanswered)) / visits;
  const done = `${away.visits} visits of links with a limit while both were far, ${near.visits} while they were near`;
  const claimed = { scenario: farAway, done, times: away.visits };
  return [
    {
      ...{ ...claimed, measure: "waited", promise: "redirects of busy links do not wait for a far region", unit: "%" },
      ...{ figure: percent(away), bound: { most: percent(near) + slowMost } },
    },
    {
      ...{ ...claimed, measure: "visits", promise: "as many visits are answered far away as near" },
      ...{ figure: away.visits, bound: { least: near.visits / 2 } },
    },
    {
      ...{ scenario: farAway, measure: "api_ms", promise: "the fault happened: the primary is far", unit: "ms" },
      ...{ done: "one request that the primary must answer", times: 1, figure: apiMs, bound: { least: farMs } },
    },
  ];
}

/** How long it takes where every answer of the primary comes late. */
async function listLinks(server: Server): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${server.url}/api/links?limit=1`, { headers: authorization(server) });
  await response.arrayBuffer();
  return performance.now() - started;
}

async function visitAll(port: number, codes: readonly string[], forMs: number): Promise<Measured> {
  const until = performance.now() + forMs;
  const took: number[] = [];
  let unanswered = 0;
  await Promise.all(
    codes.map(async (code) => {
      const line = createLine();
      while (performance.now() < until) {
        const started = performance.now();
        if ((await line.ask(port, `/${code}`)) !== 302) unanswered++;
        took.push(performance.now() - started);
        await Bun.sleep(pauseMs);
      }
      line.hangUp();
    }),
  );
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor((took.length - 1) * share)] ?? 0;
  const slow = took.filter((ms) => ms >= farMs).length;
  return { visits: took.length, unanswered, slow, p50: at(0.5), p99: at(0.99) };
}
