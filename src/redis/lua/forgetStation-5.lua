--[[
  Removes the state of a deleted station, and announces it to the servers. Its empty position stays: servers that do not hear
  the message find it, and no late commit brings the station back.
  KEYS: as in commitStation-5.lua.
  ARGV: 1 station id, 2 message.
]]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local sequence = math.max(tonumber(redis.call('GET', KEYS[4]) or '0') + 1, now)
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[1], '')
redis.call('SET', KEYS[4], string.format('%.0f', sequence))
redis.call('ZADD', KEYS[3], sequence, ARGV[1])
redis.call('SPUBLISH', KEYS[5], ARGV[2])
