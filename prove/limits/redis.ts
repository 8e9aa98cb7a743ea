/**
 * A Redis in this process, as far as our lease script needs one: hashes that expire, a clock that we set, and the real
 * text of the script, run by Lua itself. Redis has Lua 5.1 and this is 5.4; `test/model/lua.test.ts` compares the two,
 * call by call, with a real server.
 */
import { type LuaEngine, LuaFactory } from "wasmoon";

export interface Hash {
  readonly fields: Map<string, string>;
  expiresAt: number | undefined;
}

export type Data = Map<string, Hash>;
export type Reply = readonly (string | number)[];

export interface LuaRedis {
  readonly data: Data;
  run(text: string, keys: readonly string[], args: readonly string[]): Reply;
  /** A copy, as a replica that follows would have it. */
  snapshot(): Data;
  /** Everything is as it was then; with nothing, everything is gone. */
  restore(snapshot: Data): void;
}

type Compiled = (keys: string, args: string) => string;

// Words cross the border as one string each way, every word closed by a sign that none contains: twenty times cheaper
// than tables.
const end = "\x1f";
const join = (words: readonly string[]): string => words.map((word) => word + end).join("");
const split = (text: string): string[] => text.split(end).slice(0, -1);

const prelude = `
unpack = table.unpack
local function split(text)
  local words = {}
  for word in string.gmatch(text, "([^\\31]*)\\31") do words[#words + 1] = word end
  return words
end
redis = { call = function(...) return split(command(table.concat({ ... }, "\\31"))) end }
function compile(text)
  local script = assert(load(text))
  return function(keys, args)
    KEYS, ARGV = split(keys), split(args)
    local reply = script()
    for i, word in ipairs(reply) do
      reply[i] = (type(word) == "number" and ":" .. math.tointeger(word) or "+" .. word) .. "\\31"
    end
    return table.concat(reply)
  end
end`;

interface Machine {
  readonly engine: LuaEngine;
  readonly compiled: Map<string, Compiled>;
  command: (words: readonly string[]) => readonly string[];
}

let started: Promise<Machine> | undefined;

/** One Lua for the process, for starting it takes longer than a run. */
async function start(): Promise<Machine> {
  const engine = await new LuaFactory().createEngine({ enableProxy: false, injectObjects: false });
  const machine: Machine = { engine, compiled: new Map(), command: () => [] };
  engine.global.set("command", (line: string) => join(machine.command(line.split(end))));
  await engine.doString(prelude);
  return machine;
}

export async function createLuaRedis(now: () => number): Promise<LuaRedis> {
  started ??= start();
  const machine = await started;
  const data: Data = new Map();

  function hashOf(key: string): Hash {
    const hash = data.get(key) ?? { fields: new Map(), expiresAt: undefined };
    data.set(key, hash);
    return hash;
  }

  function expire(): void {
    for (const [key, { expiresAt }] of data) if (expiresAt !== undefined && expiresAt <= now()) data.delete(key);
  }

  function command([name, key = "", ...rest]: readonly string[]): string[] {
    switch (name) {
      case "TIME":
        return [String(Math.floor(now() / 1_000)), String((now() % 1_000) * 1_000)];
      case "HGETALL":
        return [...(data.get(key)?.fields ?? [])].flat();
      case "HSET": {
        const { fields } = hashOf(key);
        for (let i = 0; i < rest.length; i += 2) fields.set(rest[i] ?? "", rest[i + 1] ?? "");
        return [];
      }
      case "HDEL":
        for (const field of rest) data.get(key)?.fields.delete(field);
        if (data.get(key)?.fields.size === 0) data.delete(key);
        return [];
      case "PEXPIREAT": {
        const hash = data.get(key);
        if (hash !== undefined) hash.expiresAt = Number(rest[0]);
        return [];
      }
      default:
        throw new Error(`the Redis of the simulation does not know ${name}`);
    }
  }

  function compiled(text: string): Compiled {
    let script = machine.compiled.get(text);
    if (script === undefined) {
      // Redis takes the line that names the language away before Lua sees it.
      script = machine.engine.global.get("compile")(text.replace(/^#!/, "--")) as Compiled;
      machine.compiled.set(text, script);
    }
    return script;
  }

  return {
    data,
    run(text, keys, args) {
      expire();
      machine.command = command;
      const reply = compiled(text)(join(keys), join(args));
      expire();
      return split(reply).map((word) => (word[0] === ":" ? Number(word.slice(1)) : word.slice(1)));
    },
    snapshot: () => copy(data),
    restore(snapshot) {
      data.clear();
      for (const [key, hash] of copy(snapshot)) data.set(key, hash);
    },
  };
}

const copy = (data: Data): Data =>
  new Map([...data].map(([key, { fields, expiresAt }]) => [key, { fields: new Map(fields), expiresAt }]));
