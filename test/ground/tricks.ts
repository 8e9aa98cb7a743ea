/**
 * Tricks to make a server reach what only it can reach, and the ground to try them on: a canary that counts connections
 * to this machine's private side, a server that stands for the public internet, and a DNS for both.
 *
 * All of it is loopback. 127.0.0.2 is on the list of exceptions, and so counts as public here; everything else that
 * begins with 127 does not, and the canary listens there.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import { BlockList } from "node:net";
import { type DnsServer, startDns } from "./dns.ts";
import { freePort } from "./ports.ts";

export type Ground = {
  readonly port: number;
  readonly dns: DnsServer;
  readonly allow: BlockList;
  /** Connections that reached the private side. */
  canaries(): number;
  /** Connections that reached the public one. */
  visits(): number;
  stop(): void;
};

export type Trick = {
  readonly title: string;
  readonly url: string;
  readonly refusal: string;
};

const publicSide = "127.0.0.2";

/**
 * Names, by what they resolve to: the first answer, the second, and so on. The last one stays. `rebinding-7.test` is
 * another name that behaves like `rebinding.test`.
 */
const names: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "public.test": [[publicSide]],
  "loopback.test": [["127.0.0.1"]],
  "loopback6.test": [["::1"]],
  "private.test": [["10.0.0.1"]],
  "cloud.test": [["169.254.169.254"]],
  "mapped.test": [["::ffff:7f00:1"]],
  "nat64.test": [["64:ff9b::7f00:1"]],
  "nat64-local.test": [["64:ff9b:1::7f00:1"]],
  "sixtofour.test": [["2002:7f00:1::"]],
  "ula.test": [["fd00::1"]],
  "mixed.test": [[publicSide, "127.0.0.1"]],
  "mixed6.test": [[publicSide, "::1"]],
  "nothing.test": [["0.0.0.0"]],
  "rebinding.test": [[publicSide], ["127.0.0.1"]],
  "flipping.test": [["127.0.0.1"], [publicSide]],
};

export async function layGround(): Promise<Ground> {
  const port = freePort();
  let [canaries, visits] = [0, 0];
  const listening: Server[] = [];
  const listen = async (host: string, seen: () => void) => {
    const server = createServer((request, response) => answer(request.url ?? "/", port, response));
    server.on("connection", seen);
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
    listening.push(server);
  };
  for (const host of ["127.0.0.1", "::1", "127.0.0.3"]) await listen(host, () => void canaries++);
  await listen(publicSide, () => void visits++);
  const dns = await startDns((name, asked) => {
    const answers = names[name.replace(/-\d+(?=\.test$)/, "")];
    return answers?.[Math.min(asked, answers.length - 1)];
  });
  const allow = new BlockList();
  allow.addAddress(publicSide);
  return {
    port,
    dns,
    allow,
    canaries: () => canaries,
    visits: () => visits,
    stop() {
      dns.stop();
      for (const server of listening) server.closeAllConnections();
      for (const server of listening) server.close();
    },
  };
}

/** The public side answers with a page, or redirects where the path says. */
function answer(path: string, port: number, response: ServerResponse): void {
  const [, kind, rest = ""] = /^\/(to|chain)\/(.*)$/.exec(path) ?? [];
  // A header holds no other characters; browsers write them like this too.
  const target = decodeURIComponent(rest).replace(/[^ -~]+/g, encodeURIComponent);
  if (kind === "to") response.writeHead(302, { location: target });
  else if (kind === "chain") {
    const [, left = "0", end = ""] = /^(\d+)\/(.*)$/.exec(target) ?? [];
    const next =
      Number(left) <= 1 ? end : `http://public.test:${port}/chain/${Number(left) - 1}/${encodeURIComponent(end)}`;
    response.writeHead(301, { location: next });
  } else response.writeHead(200, { "content-type": "text/html" });
  response.end(kind === undefined ? "<title>Found</title>" : "");
}

/** Addresses, each of which must be refused before any request. */
const literals: Readonly<Record<string, readonly string[]>> = {
  "this machine": ["127.0.0.1", "127.0.0.3", "127.255.255.254", "[::1]", "0.0.0.0", "[::]"],
  "other spellings": [
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0",
    "127.0.0.1.",
    "１２７.0.0.1",
    "%31%32%37.0.0.1",
    "127。0。0。1",
  ],
  "the neighbours": [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "0xa9fea9fe",
  ],
  "kept for other purposes": [
    "0.1.2.3",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
  ],
  IPv6: [
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fdff:ffff::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[100::1]",
    "[5f00::1]",
    "[2001:2::1]",
    "[2001:10::1]",
  ],
  "one inside the other": [
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::127.0.0.1]",
    "[64:ff9b:1::8.8.8.8]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001:0:7f00:1::1]",
    "[2001::8.8.8.8]",
    "[::ffff:0:127.0.0.1]",
  ],
};

export function tricksOn({ port }: Ground): Trick[] {
  const of = (title: string, url: string, refusal = "private_address"): Trick => ({ title, url, refusal });
  const named = Object.keys(names).filter((name) => !["public.test", "rebinding.test", "flipping.test"].includes(name));
  const jump = (target: string) => `http://public.test:${port}/to/${encodeURIComponent(target)}`;
  return [
    ...Object.entries(literals).flatMap(([title, hosts]) =>
      hosts.flatMap((host) => [
        of(title, `http://${host}:${port}/`),
        of(`redirect to ${title}`, jump(`http://${host}:${port}/`)),
      ]),
    ),
    ...named.flatMap((name) => [
      of("a name", `http://${name}:${port}/`),
      of("a name with a dot", `http://${name.toUpperCase()}.:${port}/`),
      of("redirect to a name", jump(`http://${name}:${port}/`)),
    ]),
    of("a name that turns public", `http://flipping-1.test:${port}/`),
    of("redirect to a name that turns public", jump(`http://flipping-2.test:${port}/`)),
    of("redirect by //", jump(`//127.0.0.1:${port}/`)),
    of("redirect with a backslash", jump(`http:\\\\127.0.0.1:${port}\\`)),
    ...[1, 2, 4].map((hops) =>
      of(
        "a chain of redirects",
        `http://public.test:${port}/chain/${hops}/${encodeURIComponent(`http://127.0.0.1:${port}/`)}`,
      ),
    ),
    of("redirects without end", `http://public.test:${port}/chain/50/x`, "too_many_redirects"),
    of("a name before the @", `http://public.test@127.0.0.1:${port}/`, "credentials"),
    of("a name and a word before the @", `http://public.test:${port}@127.0.0.1:${port}/`, "credentials"),
    of("two @", `http://public.test@a@127.0.0.1:${port}/`, "credentials"),
    of("credentials in a redirect", jump(`http://user:word@public.test:${port}/`), "credentials"),
    of("a backslash before the @", `http://127.0.0.1:${port}\\@public.test/`),
    of("a # before the @", `http://127.0.0.1:${port}#@public.test:${port}/`),
    ...[
      "file:///etc/passwd",
      `gopher://127.0.0.1:${port}/`,
      `ftp://127.0.0.1:${port}/`,
      "data:text/html,x",
      `ws://127.0.0.1:${port}/`,
    ].flatMap((url) => [of("another scheme", url, "scheme"), of("redirect to another scheme", jump(url), "scheme")]),
    of("another port", "http://public.test:22/", "port"),
    of("another port in a redirect", jump("http://public.test:6379/"), "port"),
    of("no address", "http://", "bad_address"),
    of("a number too large", `http://4294967296:${port}/`, "bad_address"),
    of("an interface", `http://[fe80::1%25lo]:${port}/`, "bad_address"),
    of("a redirect to no address", jump("http://[::1/"), "bad_address"),
  ];
}
