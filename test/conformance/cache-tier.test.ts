import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Form } from "../../src/cache/tier.ts";
import { ttlMs } from "../../src/cache/ttl.ts";
import { createRedisCache, type RedisCache } from "../../src/redis/cache.ts";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { linkChange, namesOf } from "../ground/changes.ts";
import { redisAvailable, startRedis, startRedisCluster } from "../ground/redis.ts";
import { connected, patientMs } from "./counter-stores.ts";

interface Thing {
  readonly name: string;
}

/** Its fields have the names that the cache itself uses. */
const form: Form<Thing> = {
  name: "v3",
  keysOf: namesOf,
  toJson: ({ name }) => ({ l: name, t: "theirs", x: 1, v: -1 }),
  fromJson(json) {
    const { l, t, x, v } = json as Record<string, unknown>;
    if (typeof l !== "string" || t !== "theirs" || x !== 1 || v !== -1) throw new Error("not ours");
    return { name: l };
  },
};
/** As a later version might write it. */
const laterForm: Form<Thing> = {
  name: "v4",
  keysOf: namesOf,
  toJson: ({ name }) => name,
  fromJson: (name) => ({ name: String(name) }),
};

const thing = (version: number) => ({ version, value: { name: `v${version}` } });
const nothing = (version: number) => ({ version, value: undefined });
const plain = "00000000000000000000.0000000000000001";
const later = "00000000000000000000.0000000000000002";

let names = 0;
const fresh = (what: string) => `${what}${++names}`;
/** What was written is then answered before what is sent afterwards. */
const atOnce = (write: () => void) => write();

const places = redisAvailable()
  ? ([
      ["Redis", startRedis],
      ["a Redis Cluster", startRedisCluster],
    ] as const)
  : [];

for (const [name, start] of places) {
  describe(`the shared cache on ${name}`, () => {
    let server: { url: string; flush(): Promise<void>; stop(): Promise<void> };
    let redis: Redis;
    let cache: RedisCache<Thing>;

    const open = (one = form, random = () => 0.5, database = "") =>
      createRedisCache<Thing>({ redis, form: one, random, later: atOnce, database });

    /** As the follower does it when nothing has changed. */
    async function correct(one: RedisCache<Thing>, position = plain): Promise<void> {
      const began = systemClock.elapsed();
      for (const tag of one.servers()) {
        const stand = await one.stand(tag);
        if (stand.position === "") await one.begin(tag, position);
        await one.moveOn(tag, stand.position, position);
        one.believe(tag, began);
      }
    }

    const stands = (one: RedisCache<Thing>) => Promise.all(one.servers().map((tag) => one.stand(tag)));

    /** Writing is not waited for; what was sent after it on the same connection is answered after it. */
    async function put(one: RedisCache<Thing>, key: string, answer: ReturnType<typeof thing | typeof nothing>) {
      const ticket = one.ticket(key);
      if (ticket === undefined) throw new Error("no leave to write");
      one.put(key, answer, ticket);
      await redis.send(`{${key}}`, ["EXISTS", `{${key}}`]);
    }

    const raw = (key: string) => redis.send(`{${key}}`, ["GET", `ql:v3:link:{${key}}`]);

    beforeAll(async () => {
      server = await start();
      redis = connectRedis(server.url, { deadlineMs: patientMs });
      await connected(redis);
      cache = open();
      await correct(cache);
    });

    afterAll(async () => {
      await redis.close();
      await server.stop();
    });

    test("gives back what was put, with how much of its time is left", async () => {
      const key = fresh("k");
      expect(await cache.get(key)).toEqual({ kind: "unknown" });
      await put(cache, key, thing(3));
      const shared = await cache.get(key);
      expect(shared).toMatchObject({ kind: "value", answer: thing(3) });
      expect(shared.kind === "value" && shared.left).toBeWithin(0.99, 1.001);
      await put(cache, key, nothing(4));
      expect(await cache.get(key)).toEqual({ kind: "value", answer: nothing(4), left: 1 });
      expect(await raw(key)).toBeNull();
      await put(cache, key, thing(5));
      expect(await cache.get(key)).toMatchObject({ kind: "value", answer: thing(5) });
    });

    test("is read once for all keys of a turn that are in one slot, and a foreign value spoils only its own", async () => {
      let reads = 0;
      const counting: Redis = {
        ...redis,
        send(key, command) {
          reads++;
          return redis.send(key, command);
        },
      };
      const one = createRedisCache<Thing>({ redis: counting, form, later: atOnce });
      await correct(one);
      const keys = Array.from({ length: 300 }, () => fresh("k"));
      for (const [i, key] of keys.entries()) if (i % 3 === 0) await put(one, key, thing(i + 1));
      await redis.send(`{${keys[3]}}`, ["SET", `ql:v3:link:{${keys[3]}}`, "not ours"]);
      reads = 0;
      const found = await Promise.all(keys.map((key) => one.get(key)));
      for (const [i, shared] of found.entries()) {
        if (i % 3 === 0 && i !== 3) expect(shared).toMatchObject({ kind: "value", answer: thing(i + 1) });
        else expect(shared).toEqual({ kind: "unknown" });
      }
      const slots = new Set(keys.map((key) => redis.slotOf(`{${key}}`)));
      expect(reads).toBeLessThanOrEqual(slots.size + 1);
    });

    test("names keys and fields as the requirements do, and keeps what is past its hour for a day", async () => {
      const key = fresh("k");
      await put(cache, key, thing(1));
      const value = JSON.parse(String(await raw(key))) as { l: unknown; t: number; x: number; v: number };
      expect(value).toMatchObject({ l: form.toJson({ name: "v1" }), v: 1 });
      expect(value.x - value.t).toBe(3_600);
      const ttl = Number(await redis.send(`{${key}}`, ["PTTL", `ql:v3:link:{${key}}`]));
      expect(ttl).toBeWithin(86_000_000, 86_400_001);
      await put(cache, key, nothing(2));
      const missing = Number(await redis.send(`{${key}}`, ["PTTL", `ql:v3:404:{${key}}`]));
      expect(missing).toBeWithin(290_000, 300_001);
    });

    test("spreads the end of entries by eight in a hundred", async () => {
      for (const [random, seconds] of [
        [0, 3_312],
        [1, 3_888],
      ] as const) {
        const key = fresh("k");
        const one = open(form, () => random);
        await correct(one);
        await put(one, key, thing(1));
        const value = JSON.parse(String(await raw(key))) as { t: number; x: number };
        expect(value.x - value.t).toBe(seconds);
      }
    });

    test("lets a link that is visited all the time and never changes be good for a day, and keeps it for two", async () => {
      const key = fresh("k");
      const life = () => ttlMs(1_001, 0);
      const one = createRedisCache<Thing>({
        later: atOnce,
        redis,
        form,
        lifeMs: life,
        random: () => 0.5,
      });
      await correct(one);
      await put(one, key, thing(1));
      const { t, x } = JSON.parse(String(await raw(key))) as { t: number; x: number };
      expect(x - t).toBe(86_400);
      const ttl = Number(await redis.send(`{${key}}`, ["PTTL", `ql:v3:link:{${key}}`]));
      expect(ttl).toBeWithin(172_000_000, 172_800_001);
    });

    test("is never written by what is older", async () => {
      const key = fresh("k");
      await put(cache, key, thing(7));
      await put(cache, key, thing(6));
      await put(cache, key, nothing(6));
      expect(await cache.get(key)).toMatchObject({ answer: thing(7) });
      await put(cache, key, nothing(8));
      await put(cache, key, thing(7));
      expect(await cache.get(key)).toMatchObject({ answer: nothing(8) });
    });

    test("a fence rejects older versions, and is replaced by the version it announces", async () => {
      const key = fresh("k");
      await put(cache, key, thing(1));
      await cache.fenceOne(key, 2);
      expect(await cache.get(key)).toEqual({ kind: "fence", version: 2 });
      await put(cache, key, thing(1));
      expect(await cache.get(key)).toEqual({ kind: "fence", version: 2 });
      const ttl = Number(await redis.send(`{${key}}`, ["PTTL", `ql:v3:link:{${key}}`]));
      expect(ttl).toBeWithin(50_000, 60_001);
      await put(cache, key, thing(2));
      await cache.fenceOne(key, 2);
      await cache.fenceOne(key, 1);
      expect(await cache.get(key)).toMatchObject({ answer: thing(2) });
      await put(cache, key, nothing(3));
      await cache.fenceOne(key, 4);
      expect(await cache.get(key)).toEqual({ kind: "fence", version: 4 });
    });

    test("a writer that was held up for too long writes nothing", async () => {
      const key = fresh("k");
      const ticket = cache.ticket(key);
      cache.put(key, thing(1), { until: (ticket?.until ?? 0) - 10_000, epoch: ticket?.epoch ?? "" });
      await redis.send(`{${key}}`, ["EXISTS", `{${key}}`]);
      expect(await cache.get(key)).toEqual({ kind: "unknown" });
    });

    test("is believed once it was corrected, and no longer than a moment after", async () => {
      const key = fresh("k");
      const one = open();
      expect(one.trusts(key)).toBe(false);
      expect(one.ticket(key)).toBeUndefined();
      await stands(one);
      expect(one.trusts(key)).toBe(false);
      expect(one.ticket(key)).toBeDefined();
      await correct(one);
      expect(one.trusts(key)).toBe(true);
      for (const tag of one.servers()) one.believe(tag, systemClock.elapsed() - 1_500);
      expect(one.trusts(key)).toBe(false);
    });

    test("takes tickets by the clock of Redis, however wrong ours is", async () => {
      for (const wrongMs of [-600_000, 600_000]) {
        const key = fresh("k");
        const clock = { ...systemClock, now: () => systemClock.now() + wrongMs };
        const one = createRedisCache<Thing>({ redis, form, clock, later: atOnce });
        await stands(one);
        const until = one.ticket(key)?.until ?? 0;
        expect(Math.abs(until - systemClock.now() - 1_000)).toBeLessThan(60_000);
      }
    });

    test("is not believed after a reconnect, which may lead to another server", async () => {
      const key = fresh("k");
      let generation = 1;
      const reconnecting: Redis = {
        ...redis,
        get generation() {
          return generation;
        },
      };
      const one = createRedisCache<Thing>({ redis: reconnecting, form, later: atOnce });
      await correct(one);
      expect(one.trusts(key)).toBe(true);
      generation++;
      expect(one.trusts(key)).toBe(false);
      expect(one.ticket(key)).toBeUndefined();
      await correct(one);
      expect(one.trusts(key)).toBe(true);
    });

    test("fences of changes reach every server, and its place moves on only from where it stood", async () => {
      const keys = Array.from({ length: 330 }, () => fresh("k"));
      for (const key of keys) await put(cache, key, thing(1));
      const one = open();
      const codes = keys.slice(30).join(" ");
      const changes = [
        ...keys.slice(0, 30).map((key) => linkChange(key, 2)),
        { kind: "links", domain: "", codes, version: 2 } as const,
      ];
      for (const tag of one.servers()) {
        const stand = await one.stand(tag);
        await one.fence(tag, changes);
        await one.moveOn(tag, stand.position, later);
      }
      for (const key of keys) expect(await cache.get(key)).toEqual({ kind: "fence", version: 2 });
      for (const tag of one.servers()) {
        await one.moveOn(tag, later, plain);
        await expect(one.moveOn(tag, `${later}9`, `${later}9`)).rejects.toThrow("older data");
        expect((await one.stand(tag)).position).toBe(later);
      }
    });

    test("what another database wrote is neither trusted nor written to, until it is taken over with a new epoch", async () => {
      const own = { ...form, name: fresh("form") };
      const [theirs, ours] = [open(own, undefined, "theirs"), open(own, undefined, "ours")];
      const key = fresh("k");
      await correct(theirs);
      await put(theirs, key, thing(1));
      for (const { isForeign, position } of await stands(ours)) {
        expect({ isForeign, position }).toEqual({ isForeign: true, position: "" });
      }
      expect(ours.trusts(key)).toBe(false);
      expect(ours.ticket(key)).toBeUndefined();
      for (const tag of ours.servers()) expect((await ours.begin(tag, plain)).isForeign).toBeUndefined();
      await correct(ours);
      expect(ours.trusts(key)).toBe(true);
      expect(await ours.get(key)).toEqual({ kind: "unknown" });
      // They learn of it before they believe anything again.
      for (const tag of theirs.servers()) {
        await expect(theirs.moveOn(tag, plain, later)).rejects.toThrow("another database");
      }
      expect(theirs.trusts(key)).toBe(false);
    });

    test("a position from before databases had names belongs to the first that moves it on", async () => {
      const own = { ...form, name: fresh("form") };
      await correct(open(own));
      const [first, second] = [open(own, undefined, "first"), open(own, undefined, "second")];
      await correct(first);
      for (const { isForeign } of await stands(first)) expect(isForeign).toBeUndefined();
      for (const { isForeign } of await stands(second)) expect(isForeign).toBe(true);
    });

    test("a new epoch is empty for all, and one of two instances that start it wins", async () => {
      const key = fresh("k");
      await put(cache, key, thing(1));
      const [one, two] = [open(), open()];
      await Promise.all([stands(one), stands(two)]);
      for (const tag of one.servers()) {
        await one.begin(tag, later);
        await two.begin(tag, later);
      }
      await Promise.all([stands(one), stands(two), stands(cache)]);
      for (const each of [one, two, cache]) expect(await each.get(key)).toEqual({ kind: "unknown" });
      await put(two, key, thing(5));
      expect(await one.get(key)).toMatchObject({ answer: thing(5) });
      expect(await raw(key)).not.toContain("v6");
    });

    test("what was begun in one epoch ends in it: neither what SQL said before, nor a place on the feed, gets into the next", async () => {
      const key = fresh("k");
      const [one, two] = [open(), open()];
      await Promise.all([correct(one, later), correct(two, later)]);
      const ticket = one.ticket(key);
      if (ticket === undefined) throw new Error("no leave to write");
      for (const tag of two.servers()) await two.begin(tag, later);
      for (const tag of one.servers()) {
        await one.fence(tag, [linkChange(key, 2)]);
        await expect(one.moveOn(tag, later, `${later}9`)).rejects.toThrow("another epoch");
        expect((await two.stand(tag)).position).toBe(later);
      }
      await stands(one);
      one.put(key, thing(1), ticket);
      await redis.send(`{${key}}`, ["EXISTS", `{${key}}`]);
      expect(await two.get(key)).toEqual({ kind: "unknown" });
    });

    test("two forms side by side: each has its own values, its own fences and its own place in the feed", async () => {
      const key = fresh("k");
      const [before, after] = [open(), open(laterForm)];
      await correct(before);
      await correct(after);
      await put(before, key, thing(1));
      expect(await after.get(key)).toEqual({ kind: "unknown" });
      await put(after, key, thing(1));
      const stood = await stands(after);
      // The servers of one form correct theirs; that says nothing about the other, which is corrected by its own servers.
      for (const [i, tag] of before.servers().entries()) {
        const { position } = await before.stand(tag);
        await before.fence(tag, [linkChange(key, 2)]);
        await before.moveOn(tag, position, `${later}7`);
        expect((await after.stand(tag)).position).toBe(stood[i]?.position ?? "");
      }
      expect(await before.get(key)).toEqual({ kind: "fence", version: 2 });
      for (const tag of after.servers()) await after.fence(tag, [linkChange(key, 2)]);
      expect(await after.get(key)).toEqual({ kind: "fence", version: 2 });
    });

    test("what is not ours is left alone and not believed", async () => {
      const one = open();
      await server.flush();
      await correct(one, plain);
      for (const garbage of ["not JSON", '{"l":"x"}', '{"l":{"l":7},"t":1,"x":2,"v":9}', "[]"]) {
        const key = fresh("k");
        await redis.send(`{${key}}`, ["SET", `ql:v3:link:{${key}}`, garbage]);
        expect(await one.get(key)).toEqual({ kind: "unknown" });
        await put(one, key, thing(1));
        expect(await raw(key)).toBe(garbage);
      }
    });

    test("an empty server remembers nothing, is not believed, and begins with the plain names", async () => {
      const key = fresh("k");
      await server.flush();
      for (const tag of cache.servers()) {
        await expect(cache.moveOn(tag, plain, later)).rejects.toThrow("older data");
        expect((await cache.stand(tag)).position).toBe("");
      }
      expect(cache.trusts(key)).toBe(false);
      expect(cache.ticket(key)).toBeUndefined();
      await correct(cache);
      await put(cache, key, thing(1));
      expect(await raw(key)).toContain('"v":1}');
    });
  });
}
