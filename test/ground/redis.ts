/**
 * A private Redis: its own folder, its own port, 127.0.0.1 only; one server, or a Cluster of three shards.
 *
 * Nothing is written to disk unless a test needs it to survive.
 */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { find } from "./machine.ts";
import { freePort } from "./ports.ts";
import { type Child, cleanEnvironment, type Environment, startProcess, until } from "./process.ts";
import { removeFolder, tempFolder } from "./temp.ts";

export type RedisServer = {
  readonly port: number;
  readonly url: string;
  /** Of the server that runs now: a restart changes it. */
  readonly pid: number;
  /** One command, over a separate connection; returns the raw reply without its first character. */
  command(...command: string[]): Promise<string>;
  /** Forgets everything, as if new; scripts stay. */
  flush(): Promise<void>;
  /** Permanently: the folder is removed. */
  stop(): Promise<void>;
  /** SIGKILL; what was appended to disk stays. */
  kill(): Promise<void>;
  /** SIGSTOP: it answers nothing, and its connections stay open. */
  pause(): void;
  resume(): void;
  /** On the same folder and port, after killing it if it still runs. */
  restart(): Promise<void>;
};

export type RedisCluster = {
  readonly url: string;
  readonly shards: readonly RedisServer[];
  /** One for each shard, in their order, if they were asked for. */
  readonly replicas: readonly RedisServer[];
  flush(): Promise<void>;
  stop(): Promise<void>;
};

export type RedisSentinel = {
  readonly url: string;
  /** The first one; later the sentinel decides which is master. */
  readonly master: RedisServer;
  readonly replica: RedisServer;
  stop(): Promise<void>;
};

export type RedisServerOptions = {
  /** Appends every write to disk before it answers, so that it survives a kill. */
  durable?: boolean;
  settings?: readonly string[];
  /** Added to its environment. */
  env?: Environment;
};

const readyMs = 45_000;
const commandMs = 20_000;
const slots = 16_384;
const watchedName = "quicklink";

export function redisAvailable(): boolean {
  return find("redis-server") !== undefined;
}

export async function startRedis({
  durable = false,
  settings = [],
  env = {},
}: RedisServerOptions = {}): Promise<RedisServer> {
  const tool = find("redis-server");
  if (tool === undefined) throw new Error("redis-server is not on this machine");
  const folder = tempFolder("redis");
  const port = freePort();
  const command = [
    tool.path,
    ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--daemonize", "no"],
    ...["--appendonly", durable ? "yes" : "no", "--appendfsync", durable ? "always" : "no"],
    ...settings,
  ];
  const launch = () => launchRedis(command, folder, port, env);
  let server = await launch();
  const end = async () => {
    if (server.running()) await server.kill();
  };

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    command: (...words) => ask(port, words),
    flush: async () => {
      await ask(port, ["FLUSHALL", "SYNC"]);
    },
    stop: async () => {
      await end();
      removeFolder(folder);
    },
    kill: end,
    pause: () => process.kill(server.pid, "SIGSTOP"),
    resume: () => process.kill(server.pid, "SIGCONT"),
    restart: async () => {
      await end();
      server = await launch();
    },
  };
}

/**
 * Three shards: enough for keys to be in different places, and up in half a second. With replicas, one takes over its
 * shard about two seconds after that dies; meanwhile the other shards keep working.
 */
export async function startRedisCluster({ replicas: wanted = false } = {}): Promise<RedisCluster> {
  // By default the bus is on the port plus 10,000, which may be taken.
  const buses = [freePort(), freePort(), freePort()];
  // Otherwise all of them refuse to answer while one is unavailable.
  const settings = wanted ? ["--cluster-require-full-coverage", "no"] : [];
  const shards = await Promise.all(buses.map((bus) => startShard(bus, settings)));
  const replicaBuses = wanted ? [freePort(), freePort(), freePort()] : [];
  const replicas = await Promise.all(replicaBuses.map((bus) => startShard(bus, settings)));
  await Promise.all(
    shards.map(async (shard, i) => {
      // Each its own epoch, or they spend seconds detecting that they have the same.
      await shard.command("CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
      const [from, to] = [i, i + 1].map((n) => Math.floor((slots * n) / shards.length));
      await shard.command("CLUSTER", "ADDSLOTSRANGE", String(from), String(Number(to) - 1));
    }),
  );
  for (const one of shards) {
    for (const [i, other] of shards.entries()) {
      if (one !== other) await one.command("CLUSTER", "MEET", "127.0.0.1", String(other.port), String(buses[i]));
    }
  }
  for (const shard of shards) {
    await until(
      "the cluster to agree",
      async () => {
        const info = await shard.command("CLUSTER", "INFO");
        return (info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3")) || undefined;
      },
      readyMs,
    );
  }
  for (const [i, replica] of replicas.entries()) await follow(replica, shards[i] as RedisServer, buses[i] as number);
  return {
    url: `redis-cluster://${shards.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    shards,
    replicas,
    flush: async () => {
      await Promise.all(shards.map((shard) => shard.flush()));
    },
    stop: async () => {
      await Promise.all([...shards, ...replicas].map((server) => server.stop()));
    },
  };
}

/** A master, its replica, and a sentinel that fails over after half a second. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const tool = find("redis-server");
  if (tool === undefined) throw new Error("redis-server is not on this machine");
  const master = await startRedis();
  const replica = await startRedis({ settings: ["--replicaof", "127.0.0.1", String(master.port)] });
  await until("the replica to follow", async () => {
    const info = await replica.command("INFO", "replication");
    return info.includes("master_link_status:up") || undefined;
  });
  const folder = tempFolder("sentinel");
  const port = freePort();
  // A sentinel writes what it learns into its configuration, so that must be a file.
  const file = join(folder, "sentinel.conf");
  const settings = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor ${watchedName} 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds ${watchedName} 500`,
    `sentinel failover-timeout ${watchedName} 5000`,
  ];
  writeFileSync(file, settings.map((line) => `${line}\n`).join(""));
  const sentinel = await launchRedis([tool.path, file, "--sentinel"], folder, port);
  await until("the sentinel to know the replica", async () => {
    const info = await ask(port, ["INFO", "sentinel"]);
    return info.includes("slaves=1") || undefined;
  });
  return {
    url: `redis-sentinel://127.0.0.1:${port}/${watchedName}`,
    master,
    replica,
    stop: async () => {
      await sentinel.kill();
      removeFolder(folder);
      await Promise.all([master.stop(), replica.stop()]);
    },
  };
}

/** Makes it the replica of a shard; done when both report it. */
async function follow(replica: RedisServer, shard: RedisServer, bus: number): Promise<void> {
  const id = await shard.command("CLUSTER", "MYID");
  await replica.command("CLUSTER", "MEET", "127.0.0.1", String(shard.port), String(bus));
  // Refused until it has heard of the shard.
  const replicate = () => replica.command("CLUSTER", "REPLICATE", id).then(Boolean, () => undefined);
  await until("the replica to know its shard", replicate, readyMs);
  await until(
    "the replica to follow",
    async () => {
      const info = await replica.command("INFO", "replication");
      const state = await replica.command("CLUSTER", "INFO");
      return (info.includes("master_link_status:up") && state.includes("cluster_state:ok")) || undefined;
    },
    readyMs,
  );
}

async function startShard(bus: number, more: readonly string[]): Promise<RedisServer> {
  const settings = ["--cluster-enabled", "yes", "--cluster-port", String(bus), "--cluster-node-timeout", "1000"];
  return await startRedis({ settings: [...settings, ...more] });
}

async function launchRedis(command: string[], cwd: string, port: number, env: Environment = {}): Promise<Child> {
  const server = startProcess(command, { cwd, env: cleanEnvironment(env) });
  const ready = await until(
    "Redis to answer",
    async () => (server.running() ? await answers(port) : false),
    readyMs,
    () => server.output(),
  );
  if (!ready) throw new Error(`Redis did not start\n${server.output()}`);
  return server;
}

async function answers(port: number): Promise<true | undefined> {
  try {
    return (await ask(port, ["PING"])) === "PONG" ? true : undefined;
  } catch {
    return undefined;
  }
}

/** A connection for one command, with no client library between the test and the server. */
async function ask(port: number, command: readonly string[]): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  try {
    return await new Promise<string>((resolve, reject) => {
      let reply = "";
      socket.setTimeout(commandMs, () => reject(new Error(`Redis on ${port} did not answer ${command[0]}`)));
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`Redis on ${port} hung up on ${command[0]}`)));
      socket.on("data", (data) => {
        reply += data.toString("latin1");
        const whole = wholeReply(reply);
        if (whole === undefined) return;
        if (reply.startsWith("-")) reject(new Error(whole));
        else resolve(whole);
      });
      socket.write(`*${words.length}\r\n${words.join("")}`);
    });
  } finally {
    socket.destroy();
  }
}

function wholeReply(reply: string): string | undefined {
  const end = reply.indexOf("\r\n");
  if (end < 0) return undefined;
  const line = reply.slice(1, end);
  if (reply[0] !== "$" || line === "-1") return line;
  const body = reply.slice(end + 2);
  return body.length >= Number(line) + 2 ? body.slice(0, Number(line)) : undefined;
}
