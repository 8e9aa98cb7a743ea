/**
 * What a link takes of Redis' memory.
 *
 * Method: 1,000,000 links with codes of 7 and addresses of 100 characters are put into a private Redis the way a server
 * does it. The figure is what `used_memory` grew by, for each key that is there: value, key, its expiry and both tables.
 * That is for links that never end and have no limit; what a link takes more that has them is the difference of
 * `MEMORY USAGE` of single keys. Memory is given out in steps (… 160, 192, 224 …), so a character more may cost nothing,
 * or 32 bytes; smaller parts come in steps of 8 or 16, by how the allocator was built.
 */
import { systemClock } from "../src/base/clock.ts";
import type { CachedLink } from "../src/redirect/link-source.ts";
import { codeOf } from "./many-links.ts";
import { openRedisLinks, type RedisLinks } from "./redis-links.ts";
import { judge, progress, round, table } from "./show.ts";

const links = 1_000_000;
const step = 50_000;
const bytesMost = 300;
const wanted = 100_000_000;
const hitsMax = 10_000;
const yearMs = 365 * 86_400_000;

export async function redisBytes(): Promise<void> {
  const shared = await openRedisLinks();
  const shown = progress();
  try {
    const sizes = await sizesOf(shared);
    const before = await used(shared);
    for (let n = 0; n < links; n += step) {
      shown.now(`memory of Redis: ${n.toLocaleString("en-US")} links`);
      await shared.fill(n, n + step);
    }
    const each = ((await used(shared)) - before) / (await keysOf(shared));
    shown.end();
    await report(shared, sizes, each);
  } finally {
    shown.end();
    await shared.close();
  }
}

interface Size {
  readonly name: string;
  readonly valueBytes: number;
  /** Of key and value, by Redis' own account. */
  readonly usageBytes: number;
}

/** The first is what all others are compared with. */
async function sizesOf({ server, fill }: RedisLinks): Promise<Size[]> {
  const expiresAt = systemClock.now() + yearMs;
  const shapes: readonly [name: string, more: Partial<CachedLink>][] = [
    ["never ends, no limit", {}],
    ["no limit", { expiresAt }],
    ["never ends", { hitsMax }],
    ["as they are by default", { expiresAt, hitsMax }],
  ];
  const name = `ql:v3:link:{${codeOf(0)}}`;
  const sizes: Size[] = [];
  for (const [shape, more] of shapes) {
    await fill(0, 1, more);
    const [valueBytes, usageBytes] = [
      await server.command("STRLEN", name),
      await server.command("MEMORY", "USAGE", name),
    ];
    sizes.push({ name: shape, valueBytes: Number(valueBytes), usageBytes: Number(usageBytes) });
  }
  await server.command("DEL", name);
  return sizes;
}

async function report({ server }: RedisLinks, sizes: readonly Size[], measured: number): Promise<void> {
  const least = sizes[0]?.usageBytes ?? 0;
  const each = ({ usageBytes }: Size) => measured + usageBytes - least;
  const gigabytes = (bytes: number) => `${round((bytes * wanted) / 2 ** 30)} GB`;
  table([
    ["a link in Redis", "value, bytes", "all, bytes", "100 M links"],
    ...sizes.map((size) => [size.name, String(size.valueBytes), round(each(size)), gigabytes(each(size))]),
  ]);
  const allocator = /^mem_allocator:(\S+)/m.exec(await server.command("INFO", "memory"))?.[1];
  for (const size of [sizes[0], sizes.at(-1)]) {
    if (size !== undefined) judge(`bytes per link, ${size.name} (${allocator})`, each(size), bytesMost);
  }
}

const keysOf = async ({ server }: RedisLinks): Promise<number> => Number(await server.command("DBSIZE"));

async function used({ server }: RedisLinks): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await server.command("INFO", "memory"))?.[1]);
}
