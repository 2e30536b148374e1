--[[
  Removes the plays that are due by a time from the set of scheduled plays, the earliest first, and returns them.
  KEYS: 1 the scheduled plays.
  ARGV: 1 the time, 2 the maximum number.
  Returns the members.
]]
local plays = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])
if #plays > 0 then redis.call('ZREM', KEYS[1], unpack(plays)) end
return plays
