--[[
  Replaces a station's state if no newer one is stored and the station was not deleted, with the counts of its sources, and
  publishes it to the servers.
  KEYS: 1 the station's hash, 2 the positions of its shard, 3 the scores of its shard, 4 the sequence number of its shard,
        5 the channel of its shard, 6 the identities of the station, 7 the unflushed stations of its shard,
        8 the hash with its listener counts, 9 its open sessions of listeners, 10 the ended sessions of its shard.
  ARGV: 1 the position that was read ('' = there was no state), 2 the least offset, 3 the epoch,
        4 the rest of the new position, 5 the new state, 6 station id, 7 the triggers,
        8 the counts of Postgres (see `CountsBasis`), 9 the time in Unix milliseconds.
  Returns the new offset and the counts, or nil if another state is stored or the station was deleted; then nothing was
  changed. A state that differs only in its counts and offset is not another one.
]]
local stored = redis.call('HGET', KEYS[1], 'position') or ''
local epoch, storedOffset, rest = splitPosition(stored)
local readEpoch, _, readRest = splitPosition(ARGV[1])
if (stored == '') ~= (ARGV[1] == '') or epoch ~= readEpoch or rest ~= readRest then return nil end
if redis.call('HGET', KEYS[2], ARGV[6]) == '' then return nil end

-- The first write is one that a full Redis refuses; after it, Redis takes all others.
redis.call('HSET', KEYS[1], 'state', ARGV[5])
local basis = cjson.decode(ARGV[8])
local nowMs = tonumber(ARGV[9])
local counting = decode(redis.call('HGET', KEYS[8], 'counting'))
local fields = {}
local newestOffset = math.max(storedOffset, counting and counting.newestOffset or 0)
local offset = nextOffset(math.max(tonumber(ARGV[2]), newestOffset + 1))

local isContinued = counting and epoch == ARGV[3]
if counting and not isContinued then
  -- In another epoch, the same id may belong to another play.
  counting.play = nil
  counting.events = 0
  for _, field in ipairs(redis.call('HKEYS', KEYS[8])) do
    if string.match(field, '^ended:') or string.match(field, '^event:') then redis.call('HDEL', KEYS[8], field) end
  end
end

local lost = { total = 0, unique = 0 }
local sources = {}
for key, source in pairs(basis.sources) do
  local known = counting and counting.sources[key]
  sources[key] = known or
    { total = source.total, unique = source.unique, connected = 0, heard = 0, most = source.unique, version = 0 }
  sources[key].path, sources[key].isShown = source.path, source.isShown
end
if not counting then
  counting = { total = basis.total, unique = basis.unique, events = 0, play = basis.play ~= cjson.null and basis.play or nil }
  local play = counting.play
  if play then
    -- The row of the play may be older than the total of the station: the difference was gained or lost since.
    local since = counting.total - (play.start + play.gained - play.lost)
    play.gained, play.lost = play.gained + math.max(0, since), play.lost + math.max(0, -since)
    play.peak = math.max(play.peak, counting.total)
  end
else
  for key, source in pairs(counting.sources) do
    if not sources[key] then
      lost.total, lost.unique = lost.total + source.total, lost.unique + source.unique
      if source.isTracked then endAllSessions(ARGV[6], key, source.path, nowMs) end
      for _, member in ipairs(source.connected + source.heard > 0 and redis.call('ZRANGE', KEYS[6], 0, -1) or {}) do
        if string.sub(member, 1, #key + 1) == key .. ' ' then redis.call('ZREM', KEYS[6], member) end
      end
    end
  end
end
counting.sources = sources
counting.hasHooks = basis.hasHooks
local was, triggers = counting.total, ARGV[7]
setTotals(counting, math.max(0, was - lost.total), math.max(0, counting.unique - lost.unique), nowMs, fields)
if counting.total < was then
  noteEvent(counting, 'listener_lost', nowMs, offset, fields)
  triggers = string.gsub(triggers, '%]$', (triggers == '[]' and '' or ',') .. '"listener_lost"]')
end

local playId = basis.play ~= cjson.null and basis.play.id or nil
local ended = nil
if counting.play and counting.play.id ~= playId then
  ended, counting.play = counting.play, nil
end
if playId and not counting.play then
  startPlay(counting, playId)
  -- Listeners who disconnected before the play do not count for it.
  redis.call('ZREMRANGEBYSCORE', KEYS[6], 0, '(' .. formatInteger(connectedScore))
end

-- Whether Postgres has all counts: none wait for the flush, and none changed since. So a song without changes is not flushed.
local function areFlushed()
  if not isContinued or #fields > 0 or redis.call('ZSCORE', KEYS[7], ARGV[6]) then return false end
  if counting.total ~= basis.total or counting.unique ~= basis.unique then return false end
  for key, source in pairs(basis.sources) do
    local own = counting.sources[key]
    if own.total ~= source.total or own.unique ~= source.unique then return false end
  end
  if not playId then return true end
  for name, value in pairs(basis.play) do
    if counting.play[name] ~= value then return false end
  end
  return true
end
local isFlushed = areFlushed()
if ended and not isFlushed then
  ended['end'], ended.next = counting.total, playId
  table.insert(fields, 'ended:' .. formatInteger(ended.id))
  table.insert(fields, cjson.encode(ended))
end

local position = ARGV[3] .. ':' .. formatInteger(offset) .. ':' .. ARGV[4]
local counts = renderCounts(counting)
redis.call('HSET', KEYS[1], 'counts', counts)
redis.call('HSET', KEYS[8], 'counting', cjson.encode(counting), unpack(fields))
storePosition(position, ARGV[6], offset)
if not isFlushed then redis.call('ZADD', KEYS[7], formatInteger(offset), ARGV[6]) end
redis.call('SPUBLISH', KEYS[5], '{"stationId":' .. ARGV[6] .. ',"position":"' .. position ..
  '","triggers":' .. triggers .. ',"counts":' .. counts .. ',"state":' .. ARGV[5] .. '}')
return { formatInteger(offset), counts }
