#!lua
-- Sets what is used of a total to what the source of truth says, if that is newer than what was set before.
--
-- Keys       1: what is used
-- Arguments  1: used  2: version
-- Reply      synced
--            older          a version at least as new was set before
--            garbage, key   not ours, or of another format
--
-- What stays true: the version only grows. What is held is kept apart and stays as it is.

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
