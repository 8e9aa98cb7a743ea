/**
 * One Redis, and the connections of several instances to it. A command arrives at one step and is answered at another;
 * its caller may have given up before either. A server that is restarted takes along what had not arrived, and each
 * instance finds it again when its turn comes.
 */
import type { ManualClock } from "../../../src/base/clock.ts";
import { type Redis, RedisUnavailable } from "../../../src/redis/client.ts";
import { createLuaRedis, type Data, type LuaRedis, type Reply } from "../../ground/lua-redis.ts";
import { type Fault, long, type Steps } from "./steps.ts";

export interface ModelRedis {
  readonly data: LuaRedis;
  connect(name: string): Redis;
  /** With what it had then. */
  restart(data: Data): void;
}

const only = "all";
const away = (why: string) => new RedisUnavailable(new Error(why));

export async function createModelRedis({ step, several, fate }: Steps, clock: ManualClock): Promise<ModelRedis> {
  const data = await createLuaRedis(clock.now);
  const onRestart: (() => void)[] = [];
  let life = 1;

  function connect(name: string): Redis {
    let connectedTo = life;
    let generation = 1;
    onRestart.push(async () => {
      await step(`${name} finds Redis again`);
      connectedTo = life;
      generation++;
    });

    async function execute(what: string, work: () => Reply, becomes: Fault | undefined): Promise<Reply> {
      const sentTo = connectedTo;
      if (sentTo !== life) throw away("not connected");
      if (becomes === "redis-slow" || becomes === "redis-late") await several(`${what} of ${name} is on its way`, long);
      await step(`Redis gets ${what} of ${name}`);
      if (becomes === "redis-lost" || sentTo !== life) throw away("lost on the way");
      const reply = work();
      await step(`Redis answers ${what} of ${name}`);
      if (sentTo !== life) throw away("the answer was lost");
      return reply;
    }

    /** A caller that gives up does not know whether it was executed, or will be. */
    async function call(what: string, work: () => Reply): Promise<Reply> {
      const becomes = fate();
      const executed = execute(what, work, becomes);
      if (becomes !== "redis-late") return await executed;
      executed.catch(() => {});
      await step(`${name} gives up on ${what}`);
      throw away("no answer in time");
    }

    return {
      send: (_, words) => call(String(words[0]), () => data.command(words)),
      sendTo: (_, words) => call(String(words[0]), () => data.command(words)),
      script: ({ text }, keys, args) => call(`${keys[0]} ${args.slice(0, 2)}`, () => data.script(text, keys, args)),
      slotOf: () => 0,
      servers: () => [only],
      serverOf: () => only,
      nodeOf: () => only,
      ownerOf: () => only,
      owners: () => [only],
      get generation() {
        return generation;
      },
      listen: async () => ({ close() {} }),
      subscriber: () => ({ subscribe: () => ({ close() {} }), close() {} }),
      ping: async () => {},
      close: async () => {},
    };
  }

  return {
    data,
    connect,
    restart(snapshot) {
      life++;
      data.restore(snapshot);
      for (const reconnect of onRestart) reconnect();
    },
  };
}
