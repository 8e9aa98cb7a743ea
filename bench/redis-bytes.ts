/**
 * How much memory a link takes in Redis.
 *
 * Method: 1,000,000 links with codes of 7 and URLs of 100 characters are written to a private Redis as a server does.
 * The figure is the growth of `used_memory` per key: value, key, expiry and both tables. It is for links without an
 * expiry and without a limit; what those add is the difference in `MEMORY USAGE` of single keys. Memory is allocated in
 * steps (… 160, 192, 224 …), so one more character may cost nothing or 32 bytes; smaller allocations have steps of 8 or
 * 16, depending on how the allocator was built.
 */
import { systemClock } from "../src/base/clock.ts";
import type { CachedLink } from "../src/redirect/link-source.ts";
import type { Figure, Target } from "./bench.ts";
import { codeOf } from "./many-links.ts";
import { openRedisLinks, type RedisLinks } from "./redis-links.ts";
import { progress, round, table } from "./show.ts";

const targets = { bytes: { most: 300 } } as const satisfies Record<string, Target>;

const links = 1_000_000;
const step = 50_000;
const wanted = 100_000_000;
const hitsPerMonth = 10_000;
const yearMs = 365 * 86_400_000;

export async function redisBytes(): Promise<readonly Figure[]> {
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
    return await report(shared, sizes, each);
  } finally {
    shown.end();
    await shared.close();
  }
}

interface Size {
  readonly name: string;
  readonly valueBytes: number;
  /** Of key and value, according to Redis. */
  readonly usageBytes: number;
}

/** All others are compared with the first. */
async function sizesOf({ server, fill }: RedisLinks): Promise<Size[]> {
  const expiresAt = systemClock.now() + yearMs;
  const shapes: readonly [name: string, more: Partial<CachedLink>][] = [
    ["never ends, no limit", {}],
    ["no limit", { expiresAt }],
    ["never ends", { hitsPerMonth }],
    ["as they are by default", { expiresAt, hitsPerMonth }],
  ];
  const name = `ql:v6:link:{${codeOf(0)}}`;
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

async function report({ server }: RedisLinks, sizes: readonly Size[], measured: number): Promise<readonly Figure[]> {
  const least = sizes[0]?.usageBytes ?? 0;
  const each = ({ usageBytes }: Size) => measured + usageBytes - least;
  const gigabytes = (bytes: number) => `${round((bytes * wanted) / 2 ** 30)} GB`;
  table([
    ["a link in Redis", "value, bytes", "all, bytes", "100 M links"],
    ...sizes.map((size) => [size.name, String(size.valueBytes), round(each(size)), gigabytes(each(size))]),
  ]);
  const allocator = /^mem_allocator:(\S+)/m.exec(await server.command("INFO", "memory"))?.[1];
  return [sizes[0], sizes.at(-1)]
    .filter((size) => size !== undefined)
    .map((size) => ({ name: `bytes per link, ${size.name}, ${allocator}`, figure: each(size), target: targets.bytes }));
}

const keysOf = async ({ server }: RedisLinks): Promise<number> => Number(await server.command("DBSIZE"));

async function used({ server }: RedisLinks): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await server.command("INFO", "memory"))?.[1]);
}
