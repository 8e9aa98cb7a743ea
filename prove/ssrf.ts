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
import type { SafeFetch } from "../src/safe-fetch/safe-fetch.ts";
import type { Edit } from "../test/ground/mutant.ts";
import { type Ground, layGround, tricksOn } from "../test/ground/tricks.ts";
import type { Attempt, Control, Proof } from "./proof.ts";
import { load } from "./source.ts";

/** A client with a mistake must not reach anything but this machine, where the canary is. */
const stayHere: Edit = {
  file: "safe-fetch/pinned-request.ts",
  from: 'const secure = url.protocol === "https:";',
  to: `if (!/^(127[.]|::1$|::$|0[.]0[.]0[.]0$|::ffff:(127[.]|7f))/.test(address)) return Promise.resolve(failed("no_connection"));
  const secure = url.protocol === "https:";`,
};

const withMistake = (name: string, scenario: string, ...edits: Omit<Edit, "file">[]): Control => ({
  name,
  edits: [stayHere, ...edits.map((edit) => ({ file: "safe-fetch/safe-fetch.ts", ...edit }))],
  plays: [scenario],
  breaks: [`${scenario}.connected`, ...(scenario === "tricks" ? ["tricks.refused"] : [])],
});

export const ssrf: Proof = {
  name: "ssrf",
  shows: "addresses and tricks that lead to this machine or its neighbours, with a DNS that rebinds: each refused",
  needs: [],
  controls: [
    withMistake(
      "a redirect that is not checked",
      "tricks",
      {
        from: "async function admit(url: URL, signal: AbortSignal)",
        to: "async function admit(url: URL, signal: AbortSignal, first: boolean)",
      },
      { from: "if (!addresses.every(", to: "if (first && !addresses.every(" },
      { from: "AbortSignal, bodyMostBytes: number) {", to: "AbortSignal, bodyMostBytes: number, first: boolean) {" },
      { from: "await admit(url, signal);", to: "await admit(url, signal, first);" },
      {
        from: "await one(method, url, signal, bodyMostBytes);",
        to: "await one(method, url, signal, bodyMostBytes, redirects === 0);",
      },
    ),
    withMistake("a name that is resolved again to connect", "rebinding", {
      from: "        address,\n        userAgent,",
      to: "        address: isIP(url.hostname) === 0 ? ((await resolve(url.hostname))[0] ?? address) : address,\n        userAgent,",
    }),
    withMistake("one public address that is enough", "tricks", {
      from: "if (!addresses.every(",
      to: "if (!addresses.some(",
    }),
    {
      name: "an IPv4 address inside IPv6 that is not judged",
      edits: [
        stayHere,
        {
          file: "safe-fetch/public-address.ts",
          from: "if (address === undefined) return false;",
          to: 'if (address === undefined) return false;\n  if (text.startsWith("::ffff:")) return true;',
        },
      ],
      plays: ["tricks"],
      breaks: ["tricks.connected", "tricks.refused"],
    },
  ],
  run,
};

const promise = "an address that a user enters reaches nothing on this machine or its networks";

async function run(attempt: Attempt): Promise<void> {
  const { createSafeFetch } = await load<typeof import("../src/safe-fetch/safe-fetch.ts")>("safe-fetch/safe-fetch.ts");
  const ground = await layGround();
  try {
    const safeFetch = createSafeFetch({
      allow: ground.allow,
      ports: [ground.port],
      userAgent: "QuickLink proof",
      resolve: ground.dns.resolve,
    });
    if (attempt.plays("tricks")) await tryTricks(attempt, ground, safeFetch);
    if (attempt.plays("rebinding")) await tryRebinding(attempt, ground, safeFetch);
    if (attempt.plays("allowed")) await tryAllowed(attempt, ground, safeFetch);
    if (attempt.plays("by_name")) await tryByName(attempt, ground);
  } finally {
    ground.stop();
  }
}

async function tryTricks({ claim }: Attempt, ground: Ground, safeFetch: SafeFetch): Promise<void> {
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
  const about = {
    promise,
    scenario: "tricks",
    done: `${tricks.length} addresses of ${kinds} kinds`,
    times: tricks.length,
  };
  claim({ ...about, measure: "connected", figure: connected, unit: "connections", bound: { exactly: 0 } });
  claim({ ...about, measure: "refused", figure: refused, unit: "addresses", bound: { exactly: tricks.length } });
}

const rebinds = 50;

/** The name is public when it is checked, and private whenever it is resolved again. */
async function tryRebinding({ claim }: Attempt, ground: Ground, safeFetch: SafeFetch): Promise<void> {
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
  const done = `${visits} visits to the address that was checked, of a name that is private when it is resolved again`;
  const about = { promise, scenario: "rebinding", done, times: rebinds };
  claim({ ...about, measure: "connected", figure: connected, unit: "connections", bound: { exactly: 0 } });
  claim({ ...about, measure: "answered", figure: Math.min(answered, visits), bound: { exactly: rebinds } });
  claim({ ...about, measure: "asked_again", figure: askedAgain, unit: "queries", bound: { exactly: 0 } });
}

/** One for IPv4, one for IPv6. */
const questionsEach = 2;

async function tryAllowed({ claim }: Attempt, { port }: Ground, safeFetch: SafeFetch): Promise<void> {
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
  claim({
    promise: "an address that is allowed is fetched",
    ...{ scenario: "allowed", measure: "fetched", done: "public addresses, one after three redirects" },
    ...{ times: urls.length, figure: fetched, unit: "addresses", bound: { exactly: urls.length } },
  });
}

/** What the figures would be if the check and the connection resolved the name separately. */
async function tryByName({ claim }: Attempt, ground: Ground): Promise<void> {
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
  claim({
    promise: "the canary counts what gets through",
    ...{ scenario: "by_name", measure: "connected", done: "a client that checks a name and then connects by name" },
    ...{ times: rebinds, figure: connected, unit: "connections", bound: { exactly: rebinds } },
  });
}

function shown(outcome: Fetched): string {
  return outcome.kind === "answered" ? `answered ${outcome.status}` : `${outcome.kind}: ${outcome.reason}`;
}
