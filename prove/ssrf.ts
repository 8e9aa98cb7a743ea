/**
 * A stranger who names an address cannot make this server reach what only it can reach.
 *
 * Every trick in test/ground/tricks.ts is tried on the real guarded client, with a DNS server of ours that returns
 * private addresses, mixes them with public ones, and changes its answer from one query to the next. A canary on
 * loopback counts requests that get through. Two controls keep the figures honest: the guarded client must fetch what
 * is allowed, and a client that checks a name and then connects to it by name must be caught by the canary.
 */
import { get } from "node:http";
import type { LookupFunction } from "node:net";
import type { Fetched } from "../src/safe-fetch/outcome.ts";
import { isListed, isPublic } from "../src/safe-fetch/public-address.ts";
import { createSafeFetch, type SafeFetch } from "../src/safe-fetch/safe-fetch.ts";
import { type Ground, layGround, tricksOn } from "../test/ground/tricks.ts";
import { type Proof, wholly } from "./proof.ts";

export const ssrf: Proof = {
  name: "ssrf",
  shows: "addresses and tricks that lead to this machine or its neighbours, with a DNS that rebinds: each refused",
  needs: [],
  controls: [],
  run: wholly(run),
};

async function run(): Promise<boolean> {
  const ground = await layGround();
  try {
    const safeFetch = createSafeFetch({
      allow: ground.allow,
      ports: [ground.port],
      userAgent: "QuickLink proof",
      resolve: ground.dns.resolve,
    });
    const tricks = await tryTricks(ground, safeFetch);
    const rebound = await tryRebinding(ground, safeFetch);
    const allowed = await tryAllowed(ground, safeFetch);
    const caught = await tryNaive(ground);
    return tricks && rebound && allowed && caught;
  } finally {
    ground.stop();
  }
}

async function tryTricks(ground: Ground, safeFetch: SafeFetch): Promise<boolean> {
  const tricks = tricksOn(ground);
  const before = ground.canaries();
  let refused = 0;
  for (const { title, url, refusal } of tricks) {
    const outcome = await safeFetch.fetch("GET", url);
    if (outcome.kind === "refused" && outcome.reason === refusal) refused++;
    else console.log(`  not refused as ${refusal}: ${title}: ${url} → ${shown(outcome)}`);
  }
  const connected = ground.canaries() - before;
  const kinds = new Set(tricks.map(({ title }) => title)).size;
  console.log(`  tried=${tricks.length} refused=${refused} connected_private=${connected} kinds=${kinds}`);
  return refused === tricks.length && connected === 0;
}

const rebinds = 50;

/** The name is public when it is checked, and private whenever it is resolved again. */
async function tryRebinding(ground: Ground, safeFetch: SafeFetch): Promise<boolean> {
  const [private_, public_] = [ground.canaries(), ground.visits()];
  let answered = 0;
  let askedAgain = 0;
  for (let i = 0; i < rebinds; i++) {
    const name = `rebinding-${i}.test`;
    if ((await safeFetch.fetch("GET", `http://${name}:${ground.port}/`)).kind === "answered") answered++;
    askedAgain += ground.dns.asked(name) - questionsEach;
  }
  const connected = ground.canaries() - private_;
  const visits = ground.visits() - public_;
  console.log(
    `  rebinding: tried=${rebinds} answered_by_checked=${visits} connected_private=${connected} asked_again=${askedAgain}`,
  );
  return answered === rebinds && visits === rebinds && connected === 0 && askedAgain === 0;
}

/** One for IPv4, one for IPv6. */
const questionsEach = 2;

async function tryAllowed({ port }: Ground, safeFetch: SafeFetch): Promise<boolean> {
  const urls = [
    `http://public.test:${port}/`,
    `http://127.0.0.2:${port}/`,
    `http://2130706434:${port}/`,
    `http://public.test:${port}/chain/3/${encodeURIComponent(`http://public.test:${port}/`)}`,
  ];
  let fetched = 0;
  for (const url of urls) {
    const outcome = await safeFetch.fetch("GET", url);
    if (outcome.kind === "answered" && outcome.body.includes("Found")) fetched++;
    else console.log(`  not fetched: ${url} → ${shown(outcome)}`);
  }
  console.log(`  allowed: tried=${urls.length} fetched=${fetched}`);
  return fetched === urls.length;
}

/** What the figures would be if the check and the connection resolved the name separately. */
async function tryNaive(ground: Ground): Promise<boolean> {
  const before = ground.canaries();
  for (let i = 0; i < rebinds; i++) {
    const name = `rebinding-${rebinds + i}.test`;
    const checked = await ground.dns.resolve(name);
    if (!checked.every((address) => isPublic(address) || isListed(address, ground.allow))) continue;
    await new Promise<void>((resolve) => {
      const asking: LookupFunction = (host, _options, done) =>
        void ground.dns.resolve(host).then((found) => done(null, [{ address: found[0] ?? "", family: 4 }]));
      get({ host: name, port: ground.port, agent: false, lookup: asking }, (response) => {
        response.resume().on("close", resolve);
      }).on("error", () => resolve());
    });
  }
  const connected = ground.canaries() - before;
  console.log(
    `  control, a client that checks and then connects by name: tried=${rebinds} connected_private=${connected}`,
  );
  return connected === rebinds;
}

function shown(outcome: Fetched): string {
  return outcome.kind === "answered" ? `answered ${outcome.status}` : `${outcome.kind}: ${outcome.reason}`;
}
