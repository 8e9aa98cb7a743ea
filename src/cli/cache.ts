import { Command } from "commander";
import { toIso } from "../base/clock.ts";
import { OperatorError, Problem } from "../base/errors.ts";
import type { Versioned } from "../cache/cache.ts";
import type { LinkMeta } from "../cache/link-meta.ts";
import { type Core, openReplica } from "../core.ts";
import { splitKey, type Target } from "../links/link.ts";
import { linkMeta } from "../links/read/meta.ts";
import { createLinkStore } from "../links/store.ts";
import { linkForm } from "../redirect/cache-format.ts";
import { type CachedLink, cachedLink } from "../redirect/link-source.ts";
import { createRedisCache, type RedisCache } from "../redis/cache.ts";
import type { Redis } from "../redis/client.ts";
import { createMetaCache, type MetaCache } from "../redis/link-meta.ts";
import { wake } from "../redis/wake.ts";
import { withRedis } from "../redis/with-redis.ts";
import { createFeed, type SqlFeed } from "../sql/feed.ts";
import { quietLog, withCore } from "./core.ts";
import { type OutputFormat, printFields, printJson, say } from "./print.ts";

/**
 * Inspects and drops cached links. The memory of running servers cannot be read from here; it follows the change feed,
 * so anything that must reach it is a change: `drop` gives the link its next version.
 */
export function cacheCommand(): Command {
  const command = new Command("cache");
  command
    .command("get")
    .argument("<code>", "code, or host/code")
    .option("--json", "print as JSON")
    .description("show a link's entry in SQL and Redis")
    .action((key: string, format: OutputFormat) =>
      withCacheAccess(async (access) => printFields(await describe(access, key), format)),
    );
  command
    .command("drop")
    .argument("[code]", "code, or host/code")
    .option("--all", "drop everything in Redis")
    .option("--json", "print as JSON")
    .description("drop a link from all caches, or everything from Redis")
    .addHelpText("after", "\nExamples:\n  $ quicklink cache drop sale\n  $ quicklink cache drop --all")
    .action((key: string | undefined, { all, ...format }: OutputFormat & { all?: true }) => {
      if ((key === undefined) === (all === undefined)) throw new OperatorError("Give either a code or --all.", 2);
      return withCacheAccess((access) => (key === undefined ? dropAll(access, format) : drop(access, key, format)));
    });
  command
    .command("warm")
    .argument("<code>", "code, or host/code")
    .option("--json", "print as JSON")
    .description("load a link into Redis")
    .action((key: string, format: OutputFormat) => withCacheAccess((access) => warm(access, key, format)));
  return command;
}

/** What the servers of this region read: a replica, if there is one, and Redis. */
interface CacheAccess {
  readonly core: Core;
  readonly feed: SqlFeed;
  readonly load: (key: string) => Promise<Versioned<CachedLink>>;
  readonly loadMeta: (key: string) => Promise<LinkMeta | undefined>;
  /** `undefined` if there is no Redis; throws if it does not answer. */
  readonly onRedis: <Result>(work: (shared: Shared) => Promise<Result>) => Promise<Result | undefined>;
}

interface Shared {
  readonly redis: Redis;
  readonly tier: RedisCache<CachedLink>;
  readonly meta: MetaCache;
}

const noRedis = "REDIS_URL is not set: each server caches links in its own memory for up to 30 s";
const behindMost = 1_000;

async function withCacheAccess(work: (access: CacheAccess) => Promise<void>): Promise<void> {
  await withCore(async (core) => {
    const { config, clock } = core;
    const replica = await openReplica(config, quietLog());
    const sql = replica ?? core.sql;
    const { target } = replica ? createLinkStore(replica) : core.store;
    const share = (redis: Redis): Shared => ({
      redis,
      tier: createRedisCache({ redis, form: linkForm, clock }),
      meta: createMetaCache(redis),
    });
    try {
      await work({
        core,
        feed: createFeed(sql),
        async load(key) {
          const { domain, code } = splitKey(key);
          const { version, value } = await target(domain, code);
          return { version, value: value && cachedLink(value) };
        },
        loadMeta(key) {
          const { domain, code } = splitKey(key);
          return linkMeta(sql, domain, code, clock.now());
        },
        onRedis: async (ask) =>
          config.REDIS_URL === undefined
            ? undefined
            : await withRedis(config.REDIS_URL, (redis) => ask(share(redis))).catch(explain),
      });
    } finally {
      await replica?.close();
    }
  });
}

function explain(error: unknown): never {
  if (!(error instanceof Error && error.name === "RedisUnavailable")) throw error;
  throw new OperatorError(`${error.message}.\n  To find out why: quicklink doctor`);
}

async function describe(access: CacheAccess, key: string): Promise<Record<string, unknown>> {
  const { load, loadMeta, feed, onRedis } = access;
  const { version, value } = await load(key);
  const inRedis = await onRedis(async ({ tier, meta }) => {
    const { stand, node, epoch, shared, keptMs } = await tier.inspect(key);
    const answer = shared.kind === "value" ? shared.answer : undefined;
    return {
      ...showMeta(await metaOf(access, meta, key, version)),
      redis: answer === undefined ? shared.kind : answer.value ? "link" : "missing",
      redisVersion: shared.kind === "fence" ? shared.version : (answer?.version ?? null),
      redisUrl: leadsTo(answer?.value),
      // Of its time to live; at 0 and below it is only used when SQL is unavailable.
      freshPercent: shared.kind === "value" ? Math.round(shared.left * 100) : null,
      keptSeconds: Math.round(keptMs / 1_000),
      node,
      epoch,
      // Changes this Redis was not corrected for yet.
      behind: stand.position === "" ? null : await changesAfter(feed, stand.position),
    };
  });
  const shown = inRedis ?? { ...showMeta(await loadMeta(key)), redis: noRedis };
  return { code: key, sqlVersion: version, sqlUrl: leadsTo(value), ...shown };
}

const leadsTo = (target: Target | undefined): string | null => target?.file?.key ?? target?.url ?? null;

/** Cached by a recent lookup, unless the link has changed since. */
async function metaOf(
  { loadMeta }: CacheAccess,
  cache: MetaCache,
  key: string,
  version: number,
): Promise<LinkMeta | undefined> {
  const kept = await cache.get(key);
  if (kept?.version === version) return kept;
  const meta = await loadMeta(key);
  if (meta !== undefined) await cache.put(key, meta);
  return meta;
}

const showMeta = (meta: LinkMeta | undefined) => ({
  status: meta?.status ?? null,
  expiresAt: meta?.expiresAt ? toIso(meta.expiresAt) : null,
  hitsThisMonth: meta?.hits ?? null,
});

const changesAfter = async (feed: SqlFeed, position: string): Promise<number> =>
  (await feed.after(feed.fromText(position), behindMost)).changes.length;

async function drop({ core, onRedis }: CacheAccess, key: string, format: OutputFormat): Promise<void> {
  const { domain, code } = splitKey(key);
  const version = await core.store.touch(domain, code, core.clock.now());
  if (version === undefined) {
    throw new Problem(
      "not_found",
      `The code "${key}" has never been used. If a cache has it, the cache belongs to another database: quicklink cache drop --all`,
    );
  }
  // Done: the feed tells every server, and they tell Redis. A message only makes it sooner.
  await onRedis(({ redis }) => wake(redis)).catch(() => {});
  if (format.json) printJson({ code: key, version });
  else say(`${key} is now at version ${version}. Every server reads it from SQL within half a second.`);
}

async function dropAll({ feed, onRedis }: CacheAccess, format: OutputFormat): Promise<void> {
  const dropped = await onRedis(async ({ redis, tier }) => {
    const position = feed.toText(await feed.end());
    for (const server of tier.servers()) {
      await tier.stand(server);
      await tier.begin(server, position);
    }
    await wake(redis);
    return tier.servers().map(redis.nodeOf);
  });
  if (format.json) printJson({ dropped: dropped ?? [] });
  else if (dropped === undefined) say(`No Redis to drop from. ${noRedis}. To clear it, restart the server.`);
  else {
    say(
      `Redis (${dropped.join(", ")}) starts empty again.\n` +
        "Servers keep entries in memory for up to 30 s. After restoring a backup, restart the servers.",
    );
  }
}

async function warm(access: CacheAccess, key: string, format: OutputFormat): Promise<void> {
  const warmed = await access.onRedis(async ({ tier }) => {
    for (const server of tier.servers()) await tier.stand(server);
    const ticket = tier.ticket(key);
    if (ticket === undefined) {
      throw new OperatorError("No server has used this Redis yet. Start a server and try again after a second.");
    }
    tier.put(key, await access.load(key), ticket);
    await tier.get(key); // answered after everything sent before it
    return true;
  });
  if (warmed || format.json) printFields(await describe(access, key), format);
  else say(`No Redis to warm. ${noRedis}.`);
}
