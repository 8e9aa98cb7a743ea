/**
 * What facts about clicks cost.
 *
 * Method: two servers of ours with everything on, one with `QL_CLICK_FACTS=on` and one with `off`, which records the time
 * and reason of each click only; a bare `Bun.serve` and nginx with a constant 302. All get the 14 headers that Chrome sends.
 * The figure is CPU time per request of the whole process: reading facts, and writing clicks in another thread, included.
 * How it is measured is in `contenders.ts`.
 */
import type { Figure, Target } from "../bench.ts";
import {
  type Contender,
  fromChrome,
  measure,
  ours,
  ratioOf,
  showSamples,
  startBare,
  startNginx,
} from "../contenders.ts";
import { pin, twoCores } from "../cpu.ts";
import { progress } from "../show.ts";
import { createLink, createLinks, startSubject } from "../subject.ts";

const targets = {
  off: { most: 1.25 },
  nginx: { most: 1.7 },
} as const satisfies Record<string, Target>;

const rounds = 7;
const warmSeconds = 3;
const roundSeconds = 2;
const links = 1_000;

export async function factsCost(): Promise<readonly Figure[]> {
  const cores = twoCores();
  const [nginx, bare] = [await startNginx(), await startBare()];
  const [on, off] = [
    await startSubject("sqlite", { QL_CLICK_FACTS: "on" }),
    await startSubject("sqlite", { QL_CLICK_FACTS: "off" }),
  ];
  const shown = progress();
  try {
    const own = async (name: string, { server }: typeof on) =>
      fromChrome(ours(name, server, [await createLink(server)]));
    const many = async (name: string, { server }: typeof on) =>
      fromChrome(ours(`${name}, 1,000 links`, server, await createLinks(server, links)));
    const one = { on: await own("facts on", on), off: await own("facts off", off) };
    const all = { on: await many("facts on", on), off: await many("facts off", off) };
    const linked = { ...one.on, name: "facts on, referrer and campaign", ...plus(one.on) };
    const [constant, least] = [fromChrome(nginx), fromChrome(bare)];
    const contenders = [constant, least, one.off, one.on, linked, all.off, all.on];
    for (const { pid } of [nginx, bare, one.on, one.off]) await pin(pid, cores.server);
    const samples = await measure(contenders, { rounds, warmSeconds, roundSeconds, core: cores.client }, shown);
    shown.end();
    showSamples(contenders, samples);
    const ratio = (name: string, a: Contender, b: Contender, target: Target): Figure =>
      ratioOf(samples, name, a, b, target);
    return [
      ratio("facts on / off", one.on, one.off, targets.off),
      ratio("facts on with referrer and campaign / off", linked, one.off, targets.off),
      ratio("facts on / off, 1,000 links", all.on, all.off, targets.off),
      ratio("facts on / nginx", one.on, constant, targets.nginx),
    ];
  } finally {
    shown.end();
    await Promise.all([nginx.child.stop({ signal: "SIGTERM" }), bare.child.stop(), on.stop(), off.stop()]);
  }
}

const plus = ({ paths, headers }: Contender): Pick<Contender, "paths" | "headers"> => ({
  paths: paths.map((path) => `${path}?qr&utm_source=poster`),
  headers: [...headers, "Referer: https://news.example.com/"],
});
