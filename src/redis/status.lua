#!lua flags=no-writes
-- What is stored under several limits, at one moment. What of it counts is for limits/window.ts to say.
--
-- Keys       for each limit: what is used of it, its open holds
-- Arguments  none
-- Reply      now, then for each limit: the hash of what is used, the hash of its holds
--
-- What stays true: nothing is written.

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local reply = { string.format("%.0f", now) }
for i, key in ipairs(KEYS) do
  reply[i + 1] = redis.call("HGETALL", key)
end
return reply
