#!lua
-- Returns how far a server has been corrected and the epoch of its links, and advances that position.
--
-- Keys       1: the position
-- Arguments  1: a position to begin at or advance to, or ""  2: the position when the fences were begun
--            3: an epoch to begin, if there is none or the one below is still current; "" for none
--            4: the epoch that is over, or in which the fences were written; "" for none
--            5: the database whose feed it is; "" if it does not matter
-- Reply      epoch, position, when it was last touched, now
--            if there is none: "", "", 0, now
--            foreign, epoch, when it was last touched, now   the position is one of another database's feed
--            behind         the position is older than argument 2, or in another epoch: the fences are not here
--            garbage, key
--
-- Invariants: within an epoch the position only grows. It is written after the fences that it stands for.
--
-- Hash: f = format, e = epoch, p = position (text that sorts), t = touched, d = database (absent if a version before this
-- one wrote it: then the first to move on enters its own). It does not expire: without it, nothing on this server is trusted.

local format = "1"
local time = redis.call("TIME")
local now = string.format("%.0f", tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))

local there = redis.call("HMGET", KEYS[1], "f", "e", "p", "t", "d")
local database = ARGV[5]
local foreign = there[5] and there[5] ~= "" and database ~= "" and there[5] ~= database
if not there[1] then
  if redis.call("EXISTS", KEYS[1]) == 1 then
    return { "garbage", KEYS[1] }
  end
elseif there[1] ~= format then
  return { "garbage", KEYS[1] }
end

if ARGV[3] ~= "" and (not there[1] or there[2] == ARGV[4]) then
  -- Use the plain names if the database is empty, because nothing can be left from an earlier epoch.
  local epoch = redis.call("DBSIZE") == 0 and "0" or ARGV[3]
  redis.call("DEL", KEYS[1])
  redis.call("HSET", KEYS[1], "f", format, "e", epoch, "p", ARGV[1], "t", now, "d", database)
  return { epoch, ARGV[1], now, now }
end
if foreign then
  return { "foreign", there[2], there[4], now }
end
if ARGV[1] ~= "" and ARGV[3] == "" then
  if there[2] ~= ARGV[4] or there[3] < ARGV[2] then
    return { "behind" }
  end
  local position = ARGV[1] > there[3] and ARGV[1] or there[3]
  redis.call("HSET", KEYS[1], "p", position, "t", now)
  if database ~= "" then
    redis.call("HSET", KEYS[1], "d", database)
  end
  return { there[2], position, now, now }
end
if not there[1] then
  return { "", "", "0", now }
end
return { there[2], there[3], there[4], now }
