#!lua
-- Makes a hold final: the held amount is used from now on.
--
-- Keys       1: the id's record; then for each limit: its used amount in the current window, its open holds
-- Arguments  1: id  2: shortest memory of an id, ms  3: longest, ms
--            then for each limit: month | sliding | total, a, b   as in charge.lua
-- Reply      settled, remembered until
--            already, settled | released | expired
--            unknown
--            window, now    the month is not the current one
--            garbage, key   not ours, or in another format
--
-- Invariants: used + held is the same before and after. A missing counter that has a seed is not created: the seed will
-- include this amount, and a new counter would hide everything else that was lost.

local format = "1"
local headArguments, limitArguments = 3, 3

local function text(number)
  return string.format("%.0f", number)
end

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local id, rememberLeast, rememberMost = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
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
elseif record.state ~= "held" then
  return { "already", record.state }
elseif now >= tonumber(record.expiresAt) then
  return { "already", "expired" }
elseif #record.charges ~= (#KEYS - 1) / 2 then
  return { "garbage", KEYS[1] }
end

local countsUntil = now
local limits = {}
for i, charge in ipairs(record.charges) do
  local at = headArguments + (i - 1) * limitArguments
  local window, a, b = ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local limit = { usedKey = KEYS[2 * i], holdsKey = KEYS[2 * i + 1], bucket = 0 }
  if window == "month" then
    if now < a or now >= b then
      return { "window", text(now) }
    end
    limit.endsAt = b
  elseif window == "sliding" then
    limit.bucket = math.floor(now / a)
    limit.endsAt = (limit.bucket + b + 1) * a
  end
  local there = redis.call("HMGET", limit.usedKey, "f", text(limit.bucket))
  if there[1] and there[1] ~= format or (there[2] and not tonumber(there[2])) or (there[2] and not there[1]) then
    return { "garbage", limit.usedKey }
  end
  limit.lost = not there[1] and charge.seeded
  limit.used = tonumber(there[2] or 0) + tonumber(charge.amount)
  local holds = redis.call("HGET", limit.holdsKey, "f")
  if holds and holds ~= format then
    return { "garbage", limit.holdsKey }
  end
  countsUntil = math.max(countsUntil, limit.endsAt or now + rememberMost)
  limits[i] = limit
end

for i, limit in ipairs(limits) do
  local charge = record.charges[i]
  redis.call("HDEL", limit.holdsKey, field)
  if redis.call("HLEN", limit.holdsKey) == 1 then
    redis.call("DEL", limit.holdsKey)
  end
  if not limit.lost then
    redis.call("HSET", limit.usedKey, "f", format, text(limit.bucket), text(limit.used))
    redis.call("HDEL", limit.usedKey, "s")
    if limit.endsAt then
      redis.call("PEXPIREAT", limit.usedKey, text(limit.endsAt))
    end
  end
  charge.used, charge.bucket = limit.usedKey, text(limit.bucket)
end
record.state = "settled"
record["until"] = text(math.min(math.max(countsUntil, now + rememberLeast), now + rememberMost))
redis.call("SET", KEYS[1], cjson.encode(record), "PXAT", record["until"])
return { "settled", record["until"] }
