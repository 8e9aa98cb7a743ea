/**
 * The second region far from the limits Redis and the primary: every answer of theirs comes 120 ms later. Busy links
 * with a limit request leases ahead, so their redirects take no longer than before.
 *
 * Compared with the same visits of the same run before. A visit as slow as one remote answer has waited for it.
 */
import { createLine } from "../../bench/line.ts";
import { round } from "../../bench/show.ts";
import { authorization } from "../../bench/subject.ts";
import type { Site } from "./site.ts";

const farMs = 120;
const linkCount = 6;
const pauseMs = 15;
const warmMs = 4_000;
const measuredMs = 6_000;
/** Of the visits, more than when both were near. */
const slowMost = 0.01;

interface Measured {
  readonly visits: number;
  readonly unanswered: number;
  readonly slow: number;
  readonly p50: number;
  readonly p99: number;
}

export async function busyLinksDoNotWait({ servers, far }: Site): Promise<boolean> {
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
  far(0);
  for (const [name, one] of [["near", near] as const, ["far", away] as const]) {
    console.log(
      `ledger_and_primary=${name} delay_ms=${name === "far" ? farMs : 0} visits=${one.visits} ` +
        `unanswered=${one.unanswered} waited=${one.slow} p50_ms=${round(one.p50, 1)} p99_ms=${round(one.p99, 1)}`,
    );
  }
  const share = ({ slow, unanswered, visits }: Measured) => (slow + unanswered) / visits;
  return near.visits > 0 && away.visits > near.visits / 2 && share(away) <= share(near) + slowMost;
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
