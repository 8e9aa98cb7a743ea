#!lua
-- Sets the used amount of a total to the value from the source of truth, if that is newer than the last one.
--
-- Keys       1: the used amount
-- Arguments  1: used  2: version
-- Reply      synced
--            older          the same or a newer version was set before
--            garbage, key   not ours, or in another format
--
-- Invariants: the version only grows. Holds are kept apart and do not change.

local format = "1"

local there = redis.call("HMGET", KEYS[1], "f", "v")
local exists = redis.call("EXISTS", KEYS[1]) == 1
if (exists and there[1] ~= format) or (there[2] and not tonumber(there[2])) then
  return { "garbage", KEYS[1] }
end
if there[2] and tonumber(there[2]) >= tonumber(ARGV[2]) then
  return { "older" }
end
redis.call("HSET", KEYS[1], "f", format, "v", ARGV[2], "0", ARGV[1])
return { "synced" }
