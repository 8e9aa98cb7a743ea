/** A real DNS server on loopback that answers what a test sets, and otherwise that there is no such name. */
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";

export type Answers = (name: string, asked: number) => readonly string[] | undefined;

export type DnsServer = {
  /** `127.0.0.1:5353` */
  readonly address: string;
  /** All addresses of a name, as a resolver gets them. */
  resolve(name: string): Promise<string[]>;
  /** How often a name was queried, for IPv4 and IPv6 together. */
  asked(name: string): number;
  stop(): void;
};

const types = { a: 1, aaaa: 28 };
const txt = 16;
const noSuchName = 3;

/** `answers` returns the addresses of both kinds; `asked` is how many times the queried kind was asked before. */
export async function startDns(
  answers: Answers,
  texts: (name: string) => readonly string[] | undefined = () => undefined,
  /** Names that it never answers. */
  isSilent: (name: string) => boolean = () => false,
): Promise<DnsServer> {
  const counts = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = readQuestion(query);
    const before = counts.get(`${name} ${type}`) ?? 0;
    counts.set(`${name} ${type}`, before + 1);
    if (isSilent(name)) return;
    const known = type === txt ? texts(name) : answers(name, before);
    const wanted = (known ?? []).filter(
      (value) => type === txt || (value.includes(":") ? types.aaaa : types.a) === type,
    );
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (known === undefined ? noSuchName : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(wanted.length, 6);
    const records = wanted.map((address) => record(type, type === txt ? textBytes(address) : bytesOf(address)));
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async resolve(name) {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const addresses = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
      if (addresses.length === 0) throw new Error(`${name} has no address`);
      return addresses;
    },
    asked: (name) => [...Object.values(types)].reduce((sum, type) => sum + (counts.get(`${name} ${type}`) ?? 0), 0),
    stop: () => socket.close(),
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** For the name in the question, with a TTL of zero. */
function record(type: number, address: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, address]);
}

/** In strings of at most 255 bytes, as a TXT record has them. */
function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255);
    parts.push(Buffer.from([part.length]), part);
  }
  return Buffer.concat(parts);
}

function bytesOf(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [first = "", last = ""] = address.split("::");
  const groups = (text: string) => text.split(":").filter(Boolean);
  const filled = [
    ...groups(first),
    ...Array.from({ length: 8 - groups(first).length - groups(last).length }, () => "0"),
    ...groups(last),
  ];
  return Buffer.from(filled.map((group) => group.padStart(4, "0")).join(""), "hex");
}
