#!lua
-- Writes a link, the fact that there is none, or a fence, unless a newer version is stored.
--
-- Keys       1: the link  2: the fact that there is none
-- Arguments  1: version  2: link | missing | fence  3: the value, for a link  4: how long to keep it, ms
--            5: do not write after this time; 0 for no limit
-- Reply      written
--            newer          a newer version is stored, or for a fence the same one
--            late
--            garbage, key   not ours
--
-- Invariants: the version under the two keys only grows while they exist, and at most one of the keys exists. A fence
-- says that a version exists without its value. A fence never replaces the value of the same version.
--
-- link: JSON, {"l":<value>,"t":…,"x":…,"v":<version>}; a fence is {"v":<version>} alone. missing: the version.

local version, kind, value = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local keepFor, notAfter = ARGV[4], tonumber(ARGV[5])

if notAfter > 0 then
  local time = redis.call("TIME")
  if tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) > notAfter then
    return { "late" }
  end
end

local there = redis.call("MGET", KEYS[1], KEYS[2])
local known = -1
if there[1] then
  known = tonumber(string.match(there[1], '"v":(%d+)}$'))
  if not known then
    return { "garbage", KEYS[1] }
  end
end
if there[2] then
  local missing = tonumber(there[2])
  if not missing then
    return { "garbage", KEYS[2] }
  end
  known = math.max(known, missing)
end
if known > version or (known == version and kind == "fence") then
  return { "newer" }
end

if kind == "missing" then
  redis.call("SET", KEYS[2], ARGV[1], "PX", keepFor)
  if there[1] then
    redis.call("DEL", KEYS[1])
  end
else
  redis.call("SET", KEYS[1], kind == "fence" and '{"v":' .. ARGV[1] .. "}" or value, "PX", keepFor)
  if there[2] then
    redis.call("DEL", KEYS[2])
  end
end
return { "written" }
