#!lua
-- Ends leases of one month of a link's limit, and grants a new one if requested.
--
-- Keys       1: the month
-- Arguments  1, 2: its start and end  3: lifetime of a lease, ms  4: how long the id of an ended one is kept, ms
--            5: the total counted in SQL, or ""  6: fresh, if that was read after this key was found missing
--            7: the id of the request, or "" for none  8: max  9: wanted  10: smallest lease while plenty remains
--            11: largest lease
--            then for each lease that ended: its id, and its unspent units, or all
-- Reply      granted, size, valid for, ms
--            denied, 1 if units are on lease that may come back, now
--            closed         the id was ended before, and is not granted again
--            ended          nothing was requested
--            missing        the used amount is not there: read the total from SQL, then call again
--            window, now    the month is not the current one
--            garbage, key   not ours, or in another format
--
-- Invariants: used <= max after every grant, and used is at least the total that the caller read from SQL. An id is
-- granted once and taken back once. An unknown id gives nothing back, because that would create units from nothing.
-- After every write the key expires a day after its month: if a clock is set back past the end of the month, or a
-- replica's clock is behind, the key is still there.
--
-- Hash: f = format, u = used (granted and not taken back), l:<id> = size:valid until, or ended:since. A hash without u
-- counts as missing: it holds only requests that were taken back. A lease that is never ended, because its server
-- crashed, stays until the end of the month: how much of it was spent is unknown.

local format = "1"
local headArguments = 11
local keepMs = 86400000

local function text(number)
  return string.format("%.0f", number)
end

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local key, startsAt, endsAt = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local lives, known = tonumber(ARGV[3]), tonumber(ARGV[4])
local total, id = tonumber(ARGV[5]), ARGV[7]
if now < startsAt or now >= endsAt then
  return { "window", text(now) }
end

local fields = redis.call("HGETALL", key)
local fresh = ARGV[6] == "fresh"

-- Everything is read and checked before anything is written.
local used, ours, leases, forgotten = nil, #fields == 0, {}, {}
for i = 1, #fields, 2 do
  local name, value = fields[i], fields[i + 1]
  if name == "f" then
    ours = value == format
  elseif name == "u" then
    used = tonumber(value) or -1
  else
    local size, validUntil = string.match(value, "^(%w+):(%d+)$")
    validUntil = tonumber(validUntil)
    if string.sub(name, 1, 2) ~= "l:" or not validUntil or (size ~= "ended" and not tonumber(size)) then
      return { "garbage", key }
    elseif size == "ended" and validUntil + known < now then
      forgotten[#forgotten + 1] = name
    else
      leases[string.sub(name, 3)] = { size = tonumber(size), validUntil = validUntil }
    end
  end
end
if not ours or (used or 0) < 0 then
  return { "garbage", key }
end
local missing = not used
if missing and not fresh and id ~= "" then
  return { "missing" }
end

local changed = { "f", format }
local function write(name, value)
  changed[#changed + 1] = name
  changed[#changed + 1] = value
end

local returned = 0
for i = headArguments + 1, #ARGV, 2 do
  local lease, unspent = ARGV[i], ARGV[i + 1]
  local there = leases[lease]
  if there and there.size then
    returned = returned + math.min(there.size, unspent == "all" and there.size or tonumber(unspent))
  end
  -- A request that was taken back before it arrived may still arrive.
  if there and there.size or not there and (unspent == "all" or not missing) then
    leases[lease] = { validUntil = now }
    write("l:" .. lease, "ended:" .. text(now))
  end
end

-- Subtract first, raise after: the result is never less than what SQL has counted.
local lent = math.max((used or 0) - returned, total or 0)

local function save()
  if lent ~= used and (fresh or not missing) then
    write("u", text(lent))
  end
  if #forgotten > 0 then
    redis.call("HDEL", key, unpack(forgotten))
  end
  if #changed > 2 then
    redis.call("HSET", key, unpack(changed))
    redis.call("PEXPIREAT", key, text(endsAt + keepMs))
  end
end

local asked = leases[id]
if id == "" or asked then
  save()
  if id == "" then
    return { "ended" }
  elseif not asked.size then
    return { "closed" }
  end
  -- A clock that was set back must not prolong it.
  return { "granted", text(asked.size), text(math.min(lives, math.max(0, asked.validUntil - now))) }
end

-- Other servers that may be spending now, and need some of what remains.
local instance = string.match(id, "^[^.]*")
local holders, outstanding = 1, 0
for lease, there in pairs(leases) do
  if there.size and there.validUntil > now then
    outstanding = 1
    if string.match(lease, "^[^.]*") ~= instance then
      holders = holders + 1
    end
  end
end

local max, want, least, most = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local remaining = max - lent
if remaining <= 0 then
  save()
  return { "denied", outstanding, text(now) }
end
local size = math.max(1, math.min(math.max(want, least), most, math.floor(remaining / (2 * holders))))
local validUntil = math.min(now + lives, endsAt)
lent = lent + size
write("l:" .. id, text(size) .. ":" .. text(validUntil))
save()
return { "granted", text(size), text(validUntil - now) }
