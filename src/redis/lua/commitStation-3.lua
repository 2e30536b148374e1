--[[
  Replaces a station's state if nobody was faster and the station was not deleted, and tells the servers.
  KEYS: 1 the station's hash, 2 the positions of its shard, 3 the channel of its shard.
  ARGV: 1 the position that was read ('' = there was no state), 2 the new position, 3 the schema of the state,
        4 the new state, 5 station id, 6 the message up to the state.
  Returns 1, or 0 if the stored position is another one or the station was deleted; then nothing was changed.
]]
local stored = redis.call('HGET', KEYS[1], 'position') or ''
if stored ~= ARGV[1] then return 0 end
if redis.call('HGET', KEYS[2], ARGV[5]) == '' then return 0 end
redis.call('HSET', KEYS[1], 'position', ARGV[2], 'schema', ARGV[3], 'state', ARGV[4])
redis.call('HSET', KEYS[2], ARGV[5], ARGV[2])
redis.call('SPUBLISH', KEYS[3], ARGV[6] .. ARGV[4] .. '}')
return 1
