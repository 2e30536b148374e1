#!lua
--[[
  Sends writes that change nothing, one for each type of data, because the key is missing: Redis neither replicates them nor stores them in its
  append-only file. Redis runs a script with this first line and without flags only where it takes writes: not while it is full, read-only or
  cannot save. It fails as well if the user lacks a permission for such a command, the key, or the channel of this name.
  KEYS: 1 a key that nothing else uses (see `probeKey`).
]]
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], '', 'XX')
redis.call('HDEL', KEYS[1], '')
redis.call('ZREM', KEYS[1], '')
redis.call('LREM', KEYS[1], 0, '')
redis.call('XADD', KEYS[1], 'NOMKSTREAM', '*', '', '')
-- The only channels are those of shards.
if string.sub(KEYS[1], 1, 8) == 'cuewire:' then redis.call('SPUBLISH', KEYS[1], '') end
return 1
