--[[
  Removes the state of a deleted station, and announces it to the servers. Its empty position stays: servers that miss
  the message find it, and no late commit brings the station back.
  KEYS: as in commitStation-10.lua.
  ARGV: 1 station id, 2 message.
]]
redis.call('DEL', KEYS[1], KEYS[6], KEYS[8], KEYS[9])
redis.call('ZREM', KEYS[7], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], '')
local sequence = math.max(tonumber(redis.call('GET', KEYS[4]) or '0') + 1, nextOffset(0))
redis.call('SET', KEYS[4], formatInteger(sequence))
redis.call('ZADD', KEYS[3], formatInteger(sequence), ARGV[1])
redis.call('SPUBLISH', KEYS[5], ARGV[2])
