--[[
  Replaces a station's state if nobody was faster and the station was not deleted, and announces it to the servers.
  KEYS: 1 the station's hash, 2 the positions of its shard, 3 the scores of its shard, 4 the sequence number of its shard,
        5 the channel of its shard.
  ARGV: 1 the position that was read ('' = there was no state), 2 the least offset, 3 the epoch,
        4 the rest of the new position, 5 the new state, 6 station id, 7 the triggers.
  Returns the new offset, or nil if the stored position is another one or the station was deleted; then nothing was changed.
]]
local stored = redis.call('HGET', KEYS[1], 'position') or ''
if stored ~= ARGV[1] then return nil end
if redis.call('HGET', KEYS[2], ARGV[6]) == '' then return nil end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local offset = string.format('%.0f', math.max(tonumber(ARGV[2]), now))
local sequence = math.max(tonumber(redis.call('GET', KEYS[4]) or '0') + 1, now)
local position = ARGV[3] .. ':' .. offset .. ':' .. ARGV[4]
redis.call('HSET', KEYS[1], 'position', position, 'state', ARGV[5])
redis.call('HSET', KEYS[2], ARGV[6], position)
redis.call('SET', KEYS[4], string.format('%.0f', sequence))
redis.call('ZADD', KEYS[3], sequence, ARGV[6])
redis.call('SPUBLISH', KEYS[5], '{"stationId":' .. ARGV[6] .. ',"position":"' .. position ..
  '","triggers":' .. ARGV[7] .. ',"state":' .. ARGV[5] .. '}')
return offset
