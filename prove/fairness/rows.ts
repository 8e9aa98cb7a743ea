/** For each shared resource: how a tenant tries to take all of it, and what the others need meanwhile. */
import { connect, type Socket } from "node:net";
import { type Party, type Site, silentZone } from "./site.ts";

export interface Row {
  /** As the metrics name the resource. */
  readonly resource: string;
  readonly worst: string;
  prepare(site: Site): Promise<Play>;
}

export interface Play {
  /** One thing that others do; what is wrong with the answer, or nothing. */
  other(party: Party): Promise<string | undefined>;
  /** Continues until aborted. */
  attack(counts: Counts, signal: AbortSignal): Promise<void>;
}

export interface Counts {
  served: number;
  refused: number;
}

const type = "application/octet-stream";
/** What a refused attacker waits before it asks again: less would only take processor time from the server. */
const refusedMs = 20;
const password = "correct horse battery";

async function expectStatus(reply: Promise<Response>, ...statuses: number[]): Promise<Response> {
  const response = await reply;
  if (statuses.includes(response.status)) return response;
  throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`);
}

/** Throws at anything else: a set-up that fails shows nothing. */
async function made<Body>(reply: Promise<Response>): Promise<Body> {
  return (await (await expectStatus(reply, 200, 201)).json()) as Body;
}

async function announce(party: Party, size: number): Promise<{ id: string; path: string }> {
  const reply = party.call("POST", "/api/files", { name: "a.bin", size, type });
  const { id, upload } = await made<{ id: string; upload: { url: string } }>(reply);
  return { id, path: new URL(upload.url).pathname };
}

async function store(party: Party, size: number): Promise<string> {
  const { id, path } = await announce(party, size);
  const sent = party.visit(path, { method: "PUT", body: Buffer.alloc(size), headers: { "content-type": type } });
  await expectStatus(sent, 201);
  await expectStatus(party.call("POST", `/api/files/${id}/complete`), 200);
  return id;
}

const download = async (party: Party, id: string): Promise<string> =>
  new URL((await made<{ url: string }>(party.call("GET", `/api/files/${id}/download`))).url).pathname;

const told = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => String(error),
  );

/** Many hanging connections: each sends its part, and again after it was refused. */
async function hang(port: number, heads: readonly string[], counts: Counts, signal: AbortSignal, drip = "") {
  const open = new Set<Socket>();
  const dial = (head: string) => {
    if (signal.aborted) return;
    const socket = connect(port, "127.0.0.1", () => socket.write(head));
    open.add(socket);
    socket.on("error", () => {});
    socket.once("readable", () => {
      const answer = (socket.read(100) ?? socket.read())?.toString("latin1") ?? "";
      if (answer.startsWith("HTTP/1.1 503")) {
        counts.refused++;
        socket.destroy();
      } else if (answer !== "") counts.served++;
    });
    socket.once("close", () => {
      open.delete(socket);
      setTimeout(dial, 200, head);
    });
  };
  for (const head of heads) dial(head);
  const dripping = setInterval(() => {
    if (drip !== "") for (const socket of open) socket.write(drip);
  }, 200);
  await ended(signal);
  clearInterval(dripping);
  for (const socket of open) socket.destroy();
}

/** Many callers, each as fast as it is answered. */
async function flood(callers: number, signal: AbortSignal, counts: Counts, call: (n: number) => Promise<Response>) {
  await Promise.all(
    Array.from({ length: callers }, async (_, n) => {
      while (!signal.aborted) {
        const reply = await call(n).catch(() => undefined);
        if (reply?.status === 503) counts.refused++;
        else if (reply !== undefined) counts.served++;
        await reply?.arrayBuffer().catch(() => {});
        if (reply?.status === 503) await Bun.sleep(refusedMs);
      }
    }),
  );
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

const uploads: Row = {
  resource: "uploads",
  worst: "150 uploads of one tenant that trickle",
  async prepare({ server, greedy }) {
    const size = 1_000_000;
    const heads: string[] = [];
    for (let n = 0; n < 150; n++) {
      const { path } = await announce(greedy, size);
      heads.push(
        `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${size}\r\n\r\nbegun`,
      );
    }
    return {
      other: (party) => told(store(party, 10_000)),
      attack: (counts, signal) => hang(server.port, heads, counts, signal, "x".repeat(300)),
    };
  },
};

const downloads: Row = {
  resource: "downloads",
  worst: "200 downloads from one network that nobody reads",
  async prepare({ server, greedy, others }) {
    // More than the kernel buffers for a client that does not read.
    const path = await download(greedy, await store(greedy, 16_000_000));
    const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${greedy.network}\r\n\r\n`;
    const paths = new Map<Party, string>();
    for (const party of others) paths.set(party, await download(party, await store(party, 50_000)));
    const fetched = async (party: Party) => {
      const reply = await expectStatus(party.visit(paths.get(party) ?? ""), 200);
      const { byteLength } = await reply.arrayBuffer();
      if (byteLength !== 50_000) throw new Error(`${byteLength} bytes came`);
    };
    return {
      other: (party) => told(fetched(party)),
      attack: (counts, signal) => hang(server.port, new Array<string>(200).fill(head), counts, signal),
    };
  },
};

const bulk = (count: number) => ({
  links: Array.from({ length: count }, (_, n) => ({ url: `https://example.com/a/long/way/${n}`, title: `Link ${n}` })),
});

const work: Row = {
  resource: "work",
  worst: "80 callers of one tenant that make 1,000 links each time",
  async prepare({ greedy, others }) {
    for (const party of others) await expectStatus(party.call("POST", "/api/links/bulk", bulk(20)), 200, 201);
    const body = bulk(1_000);
    let turn = 0;
    return {
      other(party) {
        const lists = turn++ % 2 === 0;
        return told(
          lists
            ? expectStatus(party.call("GET", "/api/links?search=way&sort=updatedAt"), 200).then((one) => one.text())
            : expectStatus(party.call("POST", "/api/links/bulk", bulk(5)), 200, 201).then((one) => one.text()),
        );
      },
      attack: (counts, signal) => flood(80, signal, counts, () => greedy.call("POST", "/api/links/bulk", body)),
    };
  },
};

const passwords: Row = {
  resource: "passwords",
  // More than may wait, so that the queue is full. A link has ten attempts of a network at a time.
  worst: "100 connections of one network with right passwords",
  async prepare({ greedy, others }) {
    const locked = async (party: Party) => {
      const fields = { url: "https://example.com/secret", password };
      return `/${(await made<{ code: string }>(party.call("POST", "/api/links", fields))).code}`;
    };
    const paths: string[] = [];
    for (let n = 0; n < 20; n++) paths.push(await locked(greedy));
    const own = new Map<Party, string>();
    for (const party of others) own.set(party, await locked(party));
    const knock = (party: Party, path: string) =>
      party.visit(path, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ password }).toString(),
      });
    return {
      other: (party) => told(expectStatus(knock(party, own.get(party) ?? ""), 302, 303)),
      attack: (counts, signal) => flood(100, signal, counts, (n) => knock(greedy, paths[n % paths.length] ?? "")),
    };
  },
};

const outgoing: Row = {
  resource: "outgoing",
  worst: "60 domains of one tenant whose DNS does not answer",
  async prepare({ greedy, others }) {
    for (let n = 0; n < 60; n++) await made(greedy.call("POST", "/api/domains", { host: `n${n}.${silentZone}` }));
    const hosts = new Map<Party, string>();
    for (const [n, party] of others.entries()) {
      hosts.set(party, `other-${n}.example`);
      await made(party.call("POST", "/api/domains", { host: `other-${n}.example` }));
    }
    const verify = (party: Party, host = "") => party.call("POST", `/api/domains/${host}/verify`);
    return {
      // There is nothing to be found, and that is what it must say.
      other: (party) => told(expectStatus(verify(party, hosts.get(party)), 409).then((one) => one.text())),
      attack: (counts, signal) => flood(60, signal, counts, (n) => verify(greedy, `n${n}.${silentZone}`)),
    };
  },
};

export const rows: readonly Row[] = [uploads, downloads, work, passwords, outgoing];
