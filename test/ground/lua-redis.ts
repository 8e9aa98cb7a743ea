/**
 * A Redis in this process, as far as our scripts need one: strings and hashes that expire, a clock that we set, and the
 * real text of the scripts, run by Lua itself. Redis has Lua 5.1 and this is 5.4; `test/model/cache-scripts.test.ts`
 * and `lease-script.test.ts` compare the two, call by call, with a real server.
 */
import { type LuaEngine, LuaFactory } from "wasmoon";

export interface Stored {
  readonly value: string | ReadonlyMap<string, string>;
  readonly expiresAt: number;
}

export type Data = ReadonlyMap<string, Stored>;
export type Word = string | number | null;
export type Reply = Word | readonly Word[];

/** Of a hash. */
export const fieldOf = (stored: Stored | undefined, field: string): string | undefined =>
  stored === undefined || typeof stored.value === "string" ? undefined : stored.value.get(field);

export interface LuaRedis {
  /** What has not expired. */
  stored(key: string): Stored | undefined;
  command(words: readonly string[]): Reply;
  script(text: string, keys: readonly string[], args: readonly string[]): Reply;
  /** A copy, as a dump or a replica has it. */
  snapshot(): Data;
  /** Restores that state. */
  restore(snapshot: Data): void;
}

type Compiled = (keys: string, args: string) => string;

// Arguments are passed as one string each way, each ended by a character that none contains and started by one for its
// kind: twenty times cheaper than tables.
const end = "\x1f";
const several = "*";

function encode(reply: Reply): string {
  if (Array.isArray(reply)) return several + end + reply.map(encode).join("");
  return (reply === null ? "-" : typeof reply === "number" ? `:${reply}` : `$${reply}`) + end;
}

function decode(text: string): Reply {
  const words = text.split(end).slice(0, -1);
  const replies = words.map((word) =>
    word[0] === "-" ? null : word[0] === ":" ? Number(word.slice(1)) : word.slice(1),
  );
  return words[0] === several ? replies.slice(1) : (replies[0] ?? null);
}

const prelude = `
unpack = table.unpack
local function decode(word)
  local kind, rest = string.sub(word, 1, 1), string.sub(word, 2)
  if kind == "-" then return false end
  if kind == ":" then return math.tointeger(rest) end
  return rest
end
local function split(text)
  local words = {}
  for word in string.gmatch(text, "([^\\31]*)\\31") do words[#words + 1] = decode(word) end
  return words
end
local function encode(value)
  if not value then return "-\\31" end
  if type(value) == "number" then return ":" .. math.tointeger(value // 1) .. "\\31" end
  if type(value) == "string" then return "$" .. value .. "\\31" end
  local words = {}
  for i, word in ipairs(value) do words[i] = encode(word) end
  return "*\\31" .. table.concat(words)
end
redis = { call = function(...)
  local reply = command(table.concat({ ... }, "\\31"))
  if string.sub(reply, 1, 1) == "*" then return split(string.sub(reply, 3)) end
  return split(reply)[1]
end }
function compile(text)
  local script = assert(load(text))
  return function(keys, args)
    KEYS, ARGV = split(keys), split(args)
    return encode(script())
  end
end`;

interface Machine {
  readonly engine: LuaEngine;
  readonly compiled: Map<string, Compiled>;
  command: (words: readonly string[]) => Reply;
}

let started: Promise<Machine> | undefined;

/** One Lua per process, because starting it takes longer than a thousand scripts. */
async function start(): Promise<Machine> {
  const engine = await new LuaFactory().createEngine({ enableProxy: false, injectObjects: false });
  const machine: Machine = { engine, compiled: new Map(), command: () => null };
  engine.global.set("command", (line: string) => encode(machine.command(line.split(end))));
  await engine.doString(prelude);
  return machine;
}

export async function createLuaRedis(now: () => number): Promise<LuaRedis> {
  started ??= start();
  const machine = await started;
  const data = new Map<string, Stored>();

  function find(key: string): Stored | undefined {
    const stored = data.get(key);
    if (stored === undefined || stored.expiresAt > now()) return stored;
    data.delete(key);
    return undefined;
  }

  const textOf = (key: string): string | null => {
    const value = find(key)?.value;
    return typeof value === "string" ? value : null;
  };

  function hashOf(key: string): ReadonlyMap<string, string> {
    const value = find(key)?.value ?? new Map<string, string>();
    if (typeof value === "string") throw new Error("WRONGTYPE Operation against a key holding the wrong kind of value");
    return value;
  }

  const commands: Readonly<Record<string, (key: string, ...rest: string[]) => Reply>> = {
    TIME: () => [String(Math.floor(now() / 1_000)), String((now() % 1_000) * 1_000)],
    DBSIZE: () => [...data.keys()].filter(find).length,
    EXISTS: (key) => (find(key) === undefined ? 0 : 1),
    GET: textOf,
    MGET: (...keys) => keys.map(textOf),
    SET(key, value = "", unit, ms) {
      data.set(key, { value, expiresAt: unit === "PX" ? now() + Number(ms) : Number.POSITIVE_INFINITY });
      return "OK";
    },
    DEL: (...keys) => keys.filter((key) => find(key) !== undefined && data.delete(key)).length,
    PEXPIREAT(key, ms) {
      const stored = find(key);
      if (stored !== undefined) data.set(key, { ...stored, expiresAt: Number(ms) });
      return stored === undefined ? 0 : 1;
    },
    HGETALL: (key) => [...hashOf(key)].flat(),
    HMGET: (key, ...fields) => fields.map((field) => hashOf(key).get(field) ?? null),
    HSET(key, ...rest) {
      const before = hashOf(key);
      const fields = new Map(before);
      for (let i = 0; i < rest.length; i += 2) fields.set(rest[i] ?? "", rest[i + 1] ?? "");
      data.set(key, { value: fields, expiresAt: find(key)?.expiresAt ?? Number.POSITIVE_INFINITY });
      return fields.size - before.size;
    },
    HDEL(key, ...fields) {
      const before = hashOf(key);
      const left = new Map([...before].filter(([field]) => !fields.includes(field)));
      if (left.size === 0) data.delete(key);
      else data.set(key, { value: left, expiresAt: find(key)?.expiresAt ?? Number.POSITIVE_INFINITY });
      return before.size - left.size;
    },
    FLUSHALL() {
      data.clear();
      return "OK";
    },
  };

  function command([name = "", key = "", ...rest]: readonly string[]): Reply {
    const run = commands[name];
    if (run === undefined) throw new Error(`the Redis of this process does not know ${name}`);
    return run(key, ...rest);
  }

  function compiled(text: string): Compiled {
    let script = machine.compiled.get(text);
    if (script === undefined) {
      // Redis removes the line that names the language before Lua sees it.
      script = machine.engine.global.get("compile")(text.replace(/^#!/, "--")) as Compiled;
      machine.compiled.set(text, script);
    }
    return script;
  }

  return {
    stored: find,
    command,
    script(text, keys, args) {
      machine.command = command;
      return decode(compiled(text)(keys.map(encode).join(""), args.map(encode).join("")));
    },
    // What is stored is never changed, only replaced: a copy of the names is a copy of everything.
    snapshot: () => new Map(data),
    restore(snapshot) {
      data.clear();
      for (const [key, stored] of snapshot) data.set(key, stored);
    },
  };
}
