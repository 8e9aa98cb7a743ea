#!lua
-- Which months of limits are there: of each key whether it has a used amount.
--
-- Keys       the months, all in one slot
-- Reply      for each key 1 or 0; 1 also for foreign data, which lease.lua then reports
--
-- Writes nothing. A month that is missing here is missing for lease.lua, unless somebody creates it meanwhile.

local found = {}
for i, key in ipairs(KEYS) do
  local kind = redis.call("TYPE", key).ok
  if kind == "hash" then
    found[i] = redis.call("HEXISTS", key, "u")
  else
    found[i] = kind == "none" and 0 or 1
  end
end
return found
