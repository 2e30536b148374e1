--[[
  Removes the state of a deleted station, and tells the servers. Its empty position stays: servers that do not hear
  the message find it, and no late commit brings the station back.
  KEYS: 1 the station's hash, 2 the positions of its shard, 3 the channel of its shard.
  ARGV: 1 station id, 2 message.
]]
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[1], '')
redis.call('SPUBLISH', KEYS[3], ARGV[2])
