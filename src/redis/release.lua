#!lua flags=allow-oom
-- Undoes a take or ends a hold, once.
--
-- Keys       1: the id's record; then for each of its charges: the used amount it was charged to, the open holds
-- Arguments  1: id
--            2: release  gives back, and remembers it
--               abort    for a call over several Cluster slots not granted in all: as if it had never been made
--            3: shortest memory of an id, ms
-- Reply      released
--            already, settled | released | expired
--            unknown
--            garbage, key   not ours, or in another format
--
-- Invariants: an id gives back once, all that it took, to the bucket it was taken from; nothing if that is gone. No
-- amount goes below zero. The script may run when memory is full, because it frees memory.

local format = "1"

local function text(number)
  return string.format("%.0f", number)
end

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local id, mode, rememberLeast = ARGV[1], ARGV[2], tonumber(ARGV[3])
local field = "h:" .. id

local known = redis.call("GET", KEYS[1])
if not known then
  return { "unknown" }
end
local ok, record = pcall(cjson.decode, known)
if not ok or type(record) ~= "table" or record.f ~= format then
  return { "garbage", KEYS[1] }
elseif record.state == "denied" then
  return { "unknown" }
elseif record.state == "released" then
  return { "already", "released" }
elseif record.state == "held" and now >= tonumber(record.expiresAt) and mode ~= "abort" then
  return { "already", "expired" }
elseif record.state == "settled" and record.kind == "hold" and mode ~= "abort" then
  return { "already", "settled" }
elseif #record.charges ~= (#KEYS - 1) / 2 then
  return { "garbage", KEYS[1] }
end

local left = {}
for i, charge in ipairs(record.charges) do
  local usedKey, holdsKey = KEYS[2 * i], KEYS[2 * i + 1]
  local there = redis.call("HMGET", usedKey, "f", charge.bucket)
  if there[1] and there[1] ~= format or (there[2] and not tonumber(there[2])) then
    return { "garbage", usedKey }
  end
  local holds = redis.call("HGET", holdsKey, "f")
  if holds and holds ~= format then
    return { "garbage", holdsKey }
  end
  if record.state == "settled" and there[2] and charge.used == usedKey then
    left[i] = math.max(0, tonumber(there[2]) - tonumber(charge.amount))
  end
end

for i, charge in ipairs(record.charges) do
  local usedKey, holdsKey = KEYS[2 * i], KEYS[2 * i + 1]
  if record.state == "held" then
    redis.call("HDEL", holdsKey, field)
    if redis.call("HLEN", holdsKey) == 1 then
      redis.call("DEL", holdsKey)
    end
  elseif left[i] then
    -- The key exists, so its expiry is set, and HSET keeps it.
    redis.call("HSET", usedKey, charge.bucket, text(left[i]))
    redis.call("HDEL", usedKey, "s")
  end
end
if mode == "abort" then
  redis.call("DEL", KEYS[1])
else
  record.state = "released"
  record["until"] = text(math.max(tonumber(record["until"]), now + rememberLeast))
  redis.call("SET", KEYS[1], cjson.encode(record), "PXAT", record["until"])
end
return { "released" }
