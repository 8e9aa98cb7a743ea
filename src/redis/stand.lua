#!lua
-- How far a server was corrected, and under which epoch its links stand; moves that on.
--
-- Keys       1: where it stands
-- Arguments  1: a position to begin at or move on to, or "" to move nothing  2: where it stood when the fences were begun
--            3: an epoch to begin, if there is none or the one below is still in force; "" to begin none
--            4: the epoch that is over, or that the fences were put into; "" for none
-- Reply      epoch, position, when it was last touched, now
--            nothing there: "", "", 0, now
--            behind         it stands before where it stood, or in another epoch: the fences are not here
--            garbage, key
--
-- What stays true: within an epoch the position only grows. It is written after the fences it stands for.
--
-- Hash: f = format, e = epoch, p = position (text that sorts), t = touched. It does not expire: without it nothing
-- here is believed.

local format = "1"
local time = redis.call("TIME")
local now = string.format("%.0f", tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))

local there = redis.call("HMGET", KEYS[1], "f", "e", "p", "t")
if not there[1] then
  if redis.call("EXISTS", KEYS[1]) == 1 then
    return { "garbage", KEYS[1] }
  end
elseif there[1] ~= format then
  return { "garbage", KEYS[1] }
end

if ARGV[3] ~= "" and (not there[1] or there[2] == ARGV[4]) then
  -- Nothing but the plain names where nothing can be left of an earlier time.
  local epoch = redis.call("DBSIZE") == 0 and "0" or ARGV[3]
  redis.call("DEL", KEYS[1])
  redis.call("HSET", KEYS[1], "f", format, "e", epoch, "p", ARGV[1], "t", now)
  return { epoch, ARGV[1], now, now }
end
if ARGV[1] ~= "" and ARGV[3] == "" then
  if there[2] ~= ARGV[4] or there[3] < ARGV[2] then
    return { "behind" }
  end
  local position = ARGV[1] > there[3] and ARGV[1] or there[3]
  redis.call("HSET", KEYS[1], "p", position, "t", now)
  return { there[2], position, now, now }
end
if not there[1] then
  return { "", "", "0", now }
end
return { there[2], there[3], there[4], now }
