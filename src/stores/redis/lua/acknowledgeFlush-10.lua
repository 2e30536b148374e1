--[[
  Removes what was flushed to Postgres. Fields that changed meanwhile stay.
  KEYS: as in commitStation-10.lua.
  ARGV: 1 station id, 2 the offset up to which the station was flushed, then pairs of a field and the value that was flushed.
]]
for index = 3, #ARGV, 2 do
  if redis.call('HGET', KEYS[8], ARGV[index]) == ARGV[index + 1] then
    redis.call('HDEL', KEYS[8], ARGV[index])
    if string.match(ARGV[index], '^event:') then
      local counting = decode(redis.call('HGET', KEYS[8], 'counting'))
      if counting then
        counting.events = math.max(0, counting.events - 1)
        redis.call('HSET', KEYS[8], 'counting', cjson.encode(counting))
      end
    end
  end
end
local score = redis.call('ZSCORE', KEYS[7], ARGV[1])
if score and tonumber(score) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[7], ARGV[1]) end
