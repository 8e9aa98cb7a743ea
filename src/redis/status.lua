#!lua flags=no-writes
-- Returns what is stored for several limits, at one moment. limits/window.ts decides what of it counts.
--
-- Keys       for each limit: its used amount, its open holds
-- Arguments  none
-- Reply      now, then for each limit: the hash of the used amount, the hash of its holds
--
-- Invariants: nothing is written.

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local reply = { string.format("%.0f", now) }
for i, key in ipairs(KEYS) do
  reply[i + 1] = redis.call("HGETALL", key)
end
return reply
