#!lua
-- Takes from or holds against several limits at once: all or nothing.
--
-- Keys       1: the id's record; then for each limit: its used amount, its open holds
-- Arguments  1: id  2: take | hold  3: how long to hold, ms; 0 charges for good at once
--            4: shortest memory of an id, ms  5: longest, ms  6: memory of a denial, ms  7: most open holds
--            then for each limit: amount, max, month | sliding | total, a, b, base key, seed
--              month: a, b are its start and end; sliding: the length of a bucket in ms, and how many
--              seed: "" for none, "?" to ask for it if the key is missing, or the number asked for
--            then, for one limit that is a total, optionally the source of truth: used, version, least that should be held
-- Reply      granted, held | settled, remembered until
--            denied, which limit (from 1), when it would fit (-1 never), now
--            closed, released | expired     the id was granted before and is over
--            id_in_use                      the id names a hold and is used for a take, or the other way round
--            window, now                    the month is not the current one
--            seed, limits (from 1) ...      these keys are missing: call again with what is used
--            lost                           less is held than should be: holds were lost
--            garbage, key                   not ours, or in another format
--
-- Invariants: used + held <= max after every grant. Everything is read and checked before anything is written. A denial
-- writes only its own record, a seed, a newer version of the source of truth, and buckets from the future moved to now; none
-- of these is a charge. The version only grows (sync.lua). A record of a take that is still held belongs to a take over
-- several Cluster slots whose caller has no answer yet; once expired, it is charged again.
--
-- used:   hash, f = format, v = version of the source of truth, bucket number = amount (month and total: bucket 0),
--         s = bucket:amount, the sum of all counting buckets before this one, so that they are read only once.
--         A script that changes another bucket, or has not read them, deletes it.
-- holds:  hash, f = format, h:<id> = amount:expires at
-- record: JSON; whole numbers are strings, because cjson keeps only 14 digits

local format = "1"
local headArguments, limitArguments = 7, 7

local function text(number)
  return string.format("%.0f", number)
end

local function add(list, item)
  list = list or {}
  list[#list + 1] = item
  return list
end

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local id, kind, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
local rememberLeast, rememberMost = tonumber(ARGV[4]), tonumber(ARGV[5])
local rememberDenial, openHoldsMost = tonumber(ARGV[6]), tonumber(ARGV[7])
local field = "h:" .. id
local truthAt = headArguments + (#KEYS - 1) / 2 * limitArguments
local truth = ARGV[truthAt + 1]
  and { used = tonumber(ARGV[truthAt + 1]), version = tonumber(ARGV[truthAt + 2]), held = tonumber(ARGV[truthAt + 3]) }

local known = redis.call("GET", KEYS[1])
if known then
  local ok, record = pcall(cjson.decode, known)
  if not ok or type(record) ~= "table" or record.f ~= format then
    return { "garbage", KEYS[1] }
  elseif record.state == "denied" then
    return { "denied", record.limit, record.retryAt, text(now) }
  elseif record.kind ~= kind then
    return { "id_in_use" }
  elseif record.state == "released" then
    return { "closed", "released" }
  elseif record.state == "settled" then
    return { "granted", "settled", record["until"] }
  elseif now < tonumber(record.expiresAt) then
    return { "granted", "held", record["until"] }
  elseif kind == "hold" then
    return { "closed", "expired" }
  end
end

-- In a sliding window, reads only the current bucket if the sum of the others is known.
local function readCurrent(limit)
  if limit.window ~= "sliding" then
    return false
  end
  local there = redis.call("HMGET", limit.usedKey, "f", "s", text(limit.bucket))
  local bucket, before = string.match(there[2] or "", "^(%d+):(%d+)$")
  local current = tonumber(there[3] or 0)
  if there[1] ~= format or tonumber(bucket) ~= limit.bucket or not current or current < 0 then
    return false
  end
  limit.current, limit.before, limit.partly = current, tonumber(before), true
  return true
end

-- Reads all buckets, and when each of them stops counting.
local function readAll(limit)
  local used = redis.call("HGETALL", limit.usedKey)
  limit.current, limit.before, limit.partly = 0, 0, false
  limit.missing = #used == 0
  local ours = limit.missing
  for f = 1, #used, 2 do
    if used[f] == "f" then
      ours = used[f + 1] == format
    elseif used[f] == "v" then
      limit.version = tonumber(used[f + 1])
      if not limit.version then
        return { "garbage", limit.usedKey }
      end
    elseif used[f] ~= "s" then
      local bucket, amount = tonumber(used[f]), tonumber(used[f + 1])
      if not bucket or not amount or amount < 0 then
        return { "garbage", limit.usedKey }
      end
      if bucket > limit.bucket then
        limit.stale = add(limit.stale, used[f])
        limit.folded = true
        bucket = limit.bucket
      end
      if bucket == limit.bucket then
        limit.current = limit.current + amount
      elseif bucket < limit.bucket - limit.b then
        limit.stale = add(limit.stale, used[f])
      else
        limit.before = limit.before + amount
        limit.counting[#limit.counting + 1] = { (bucket + limit.b + 1) * limit.a, amount }
      end
    end
  end
  if not ours then
    return { "garbage", limit.usedKey }
  end
  if limit.missing and tonumber(limit.seed) then
    limit.current = tonumber(limit.seed)
    limit.seeded = true
  end
end

-- Adds up the holds. There may be hundreds, so it does so without their names, and keeps nothing of each. False if that is
-- not enough: one has ended, is of this id, or is not ours.
local function sumHolds(limit)
  local holds = redis.call("HVALS", limit.holdsKey)
  if #holds > 0 and redis.call("HEXISTS", limit.holdsKey, field) == 1 then
    return false
  end
  local held, open, lastHold = 0, 0, 0
  for _, hold in ipairs(holds) do
    local amount, expires = string.match(hold, "^(%d+):(%d+)$")
    if amount then
      expires = tonumber(expires)
      if expires <= now then
        return false
      end
      held = held + amount
      open = open + 1
      if expires > lastHold then
        lastHold = expires
      end
    elseif hold ~= format then
      return false
    end
  end
  limit.held, limit.open, limit.lastHold, limit.summed = held, open, lastHold, true
  limit.count = limit.count + held
  return true
end

-- Reads each hold, and when it stops counting.
local function readHolds(limit)
  local holds = redis.call("HGETALL", limit.holdsKey)
  for f = 1, #holds, 2 do
    if holds[f] == "f" then
      if holds[f + 1] ~= format then
        return { "garbage", limit.holdsKey }
      end
    else
      local amount, expires = string.match(holds[f + 1], "^(%d+):(%d+)$")
      if not amount then
        return { "garbage", limit.holdsKey }
      end
      amount, expires = tonumber(amount), tonumber(expires)
      if expires <= now then
        limit.expired = add(limit.expired, holds[f])
      elseif holds[f] ~= field then
        limit.held = limit.held + amount
        limit.count = limit.count + amount
        limit.counting[#limit.counting + 1] = { expires, amount }
        limit.open = limit.open + 1
        limit.lastHold = math.max(limit.lastHold, expires)
      end
    end
  end
end

-- Reads one limit: what counts, and when each part of it stops counting.
local function read(i)
  local at = headArguments + (i - 1) * limitArguments
  local limit = {
    usedKey = KEYS[2 * i],
    holdsKey = KEYS[2 * i + 1],
    amount = tonumber(ARGV[at + 1]),
    max = tonumber(ARGV[at + 2]),
    window = ARGV[at + 3],
    a = tonumber(ARGV[at + 4]),
    b = tonumber(ARGV[at + 5]),
    seed = ARGV[at + 7],
    bucket = 0,
    current = 0,
    before = 0,
    counting = {},
    open = 0,
    held = 0,
    lastHold = 0,
  }
  if limit.window == "month" then
    if now < limit.a or now >= limit.b then
      return nil, { "window", text(now) }
    end
    limit.endsAt = limit.b
  elseif limit.window == "sliding" then
    limit.bucket = math.floor(now / limit.a)
    limit.endsAt = (limit.bucket + limit.b + 1) * limit.a
  end

  local garbage = not readCurrent(limit) and readAll(limit)
  if garbage then
    return nil, garbage
  end
  if truth and (not limit.version or limit.version < truth.version) then
    limit.current, limit.version, limit.synced = truth.used, truth.version, true
  end
  limit.count = limit.before + limit.current

  local count = limit.count
  garbage = not sumHolds(limit) and readHolds(limit)
  if garbage then
    return nil, garbage
  end
  -- Each of them is needed to tell when the amount would fit.
  if limit.summed and limit.count + limit.amount > limit.max then
    limit.count, limit.held, limit.open, limit.lastHold = count, 0, 0, 0
    garbage = readHolds(limit)
    if garbage then
      return nil, garbage
    end
  end
  -- All buckets are needed to tell when the amount would fit.
  if limit.partly and limit.count + limit.amount > limit.max then
    garbage = readAll(limit)
    return not garbage and limit or nil, garbage
  end
  return limit
end

local limits, unseeded = {}, { "seed" }
for i = 1, (#KEYS - 1) / 2 do
  local limit, refusal = read(i)
  if refusal then
    return refusal
  end
  limits[i] = limit
  if limit.missing and limit.seed == "?" then
    unseeded[#unseeded + 1] = i
  end
end
if #unseeded > 1 then
  return unseeded
end
if truth and limits[1].held < truth.held then
  return { "lost" }
end

-- When the amount would fit if nothing else happened; -1 if waiting does not help.
local function fitsAt(limit)
  if limit.amount > limit.max then
    return -1
  end
  if limit.endsAt then
    limit.counting[#limit.counting + 1] = { limit.endsAt, limit.current }
  end
  table.sort(limit.counting, function(one, other)
    return one[1] < other[1]
  end)
  local left = limit.count
  for _, part in ipairs(limit.counting) do
    left = left - part[2]
    if left + limit.amount <= limit.max then
      return part[1]
    end
  end
  return -1
end

local function firstHoldEnds(limit)
  local first = limit.lastHold
  for _, hold in ipairs(redis.call("HVALS", limit.holdsKey)) do
    local expires = tonumber(string.match(hold, ":(%d+)$"))
    if expires and expires > now then
      first = math.min(first, expires)
    end
  end
  return first
end

local function waitsUntil(limit)
  if kind == "hold" and limit.open >= openHoldsMost then
    return firstHoldEnds(limit)
  end
  return limit.count + limit.amount > limit.max and fitsAt(limit) or nil
end

local denied, retryAt
for i, limit in ipairs(limits) do
  local wait = waitsUntil(limit)
  if wait and (not denied or (retryAt ~= -1 and (wait == -1 or wait > retryAt))) then
    denied, retryAt = i, wait
  end
end

local function writeUsed(limit, added)
  local bucket, amount = text(limit.bucket), text(limit.current + added)
  if limit.partly then
    -- The call that stored the sum of the others has also set the expiry of the key.
    redis.call("HSET", limit.usedKey, bucket, amount)
    return
  end
  redis.call("HSET", limit.usedKey, "f", format, bucket, amount)
  if limit.synced then
    redis.call("HSET", limit.usedKey, "v", text(limit.version))
  end
  if limit.stale then
    redis.call("HDEL", limit.usedKey, unpack(limit.stale))
  end
  if limit.window == "sliding" then
    redis.call("HSET", limit.usedKey, "s", bucket .. ":" .. text(limit.before))
  end
  if limit.endsAt then
    redis.call("PEXPIREAT", limit.usedKey, text(limit.endsAt))
  end
end

if denied then
  for _, limit in ipairs(limits) do
    if limit.seeded or limit.folded or limit.synced then
      writeUsed(limit, 0)
    end
  end
  local forgetAt = now + rememberDenial
  if retryAt ~= -1 then
    forgetAt = math.min(forgetAt, retryAt)
  end
  local record = { f = format, kind = kind, state = "denied", limit = denied, retryAt = text(retryAt) }
  redis.call("SET", KEYS[1], cjson.encode(record), "PXAT", text(forgetAt))
  return { "denied", denied, text(retryAt), text(now) }
end

local final = ttl == 0
local expiresAt = now + ttl
local countsUntil = now
local charges = {}
for i, limit in ipairs(limits) do
  if final then
    writeUsed(limit, limit.amount)
  else
    if limit.seeded or limit.folded or limit.synced then
      writeUsed(limit, 0)
    end
    redis.call("HSET", limit.holdsKey, "f", format, field, text(limit.amount) .. ":" .. text(expiresAt))
    if limit.expired then
      redis.call("HDEL", limit.holdsKey, unpack(limit.expired))
    end
    redis.call("PEXPIREAT", limit.holdsKey, text(math.max(limit.lastHold, expiresAt)))
  end
  countsUntil = math.max(countsUntil, limit.endsAt or now + rememberMost)
  local at = headArguments + (i - 1) * limitArguments
  charges[i] = {
    amount = ARGV[at + 1],
    window = ARGV[at + 3],
    a = ARGV[at + 4],
    b = ARGV[at + 5],
    base = ARGV[at + 6],
    used = limit.usedKey,
    bucket = text(limit.bucket),
    seeded = limit.seed ~= "" or truth ~= nil,
  }
end

local forgetAt
if final then
  forgetAt = math.min(math.max(countsUntil, now + rememberLeast), now + rememberMost)
else
  forgetAt = expiresAt + (kind == "hold" and rememberMost or rememberLeast)
end
local record = {
  f = format,
  kind = kind,
  state = final and "settled" or "held",
  expiresAt = text(expiresAt),
  charges = charges,
}
record["until"] = text(forgetAt)
redis.call("SET", KEYS[1], cjson.encode(record), "PXAT", record["until"])
return { "granted", record.state, record["until"] }
