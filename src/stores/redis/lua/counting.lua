--[[
  Shared by the scripts about a station: `src/stores/redis/connection.ts` puts this text before each of them.

  The field `counting` of the hash that counts a station's listeners, as JSON:
    total, unique          the station's listeners
    hasHooks               whether changes of the total are events for web hooks
    sources                by key (`mount:7`): total, unique, path, isShown; connected: identities that are connected;
                           heard: identities of this play; most: the largest unique count in this play;
                           isTracked: whether its sessions were ever recorded here;
                           version: raised with each change of the identities
    play                   of the current play: id, start, gained, lost, peak, unique
    minute                 of the newest minute with a change: at, total, unique, most, fewest
    newestOffset           of the last report; not shown if only identities changed
    events, newestEvent    number of fields `event:OFFSET`, and the newest of them
  Other fields wait for the flush: `ended:ID` the numbers of an ended play, `minute:AT` of a past minute, and
  `event:OFFSET` a change of the total for web hooks.
  The sorted set of identities has `KEY IDENTITY`, scored with the time of disconnection, or with `connectedScore`.
  The hash of open sessions has by `KEY TOKEN` the JSON array of the offset and the place in the report with which it began, the
  time, and what is stored about it: program, kind of program, country. The stream of ended sessions has the same, after the
  station, the kind and the path of the source, and the time of the end; it names no listener.
]]
local maxInt32 = 2147483647
local connectedScore = 9007199254740991
local maxEvents = 1000
local maxEndedSessions = 200000

local function decode(text)
  local isOk, value = pcall(cjson.decode, text or '')
  if isOk and type(value) == 'table' then return value end
  return nil
end

local function formatInteger(number) return string.format('%.0f', number) end

-- `epoch:offset:revision:schema` as its first part, its offset and the rest.
local function splitPosition(position)
  local epoch, offset, rest = string.match(position, '^([^:]*):([^:]*):(.*)$')
  return epoch or '', tonumber(offset or '0') or 0, rest or ''
end

-- An offset that is at least `least` and above all that were ever sent.
local function nextOffset(least)
  local time = redis.call('TIME')
  return math.max(least, tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
end

-- Stores a position, and scores the station with the next sequence number of its shard.
local function storePosition(position, stationId, offset)
  redis.call('HSET', KEYS[1], 'position', position)
  redis.call('HSET', KEYS[2], stationId, position)
  local sequence = math.max(tonumber(redis.call('GET', KEYS[4]) or '0') + 1, offset)
  redis.call('SET', KEYS[4], formatInteger(sequence))
  redis.call('ZADD', KEYS[3], formatInteger(sequence), stationId)
end

local function startPlay(counting, id)
  counting.play = {
    id = id, start = counting.total, gained = 0, lost = 0, peak = counting.total, unique = counting.unique
  }
  for _, source in pairs(counting.sources) do
    source.most = source.unique
    source.heard = source.connected
  end
end

-- Sets the totals, with the numbers of the play and of the minute.
local function setTotals(counting, total, unique, nowMs, fields)
  local was = counting.total
  if total == was and unique == counting.unique then return end
  local at = math.floor(nowMs / 60000)
  local minute = counting.minute
  if minute and minute.at < at then
    table.insert(fields, 'minute:' .. formatInteger(minute.at))
    table.insert(fields, cjson.encode(minute))
    minute = nil
  end
  minute = minute or { at = at, most = was, fewest = was }
  minute.total, minute.unique = total, unique
  minute.most = math.max(minute.most, was, total)
  minute.fewest = math.min(minute.fewest, was, total)
  counting.minute = minute
  counting.total, counting.unique = total, unique
  local play = counting.play
  if not play then return end
  play.gained = math.min(maxInt32, play.gained + math.max(0, total - was))
  play.lost = math.min(maxInt32, play.lost + math.max(0, was - total))
  play.peak = math.max(play.peak, total)
end

-- Adds a change of the total for web hooks. If too many are unflushed, it replaces the newest one.
local function noteEvent(counting, trigger, nowMs, offset, fields)
  if not counting.hasHooks then return end
  if counting.events < maxEvents then
    counting.events = counting.events + 1
  elseif counting.newestEvent then
    redis.call('HDEL', KEYS[8], counting.newestEvent)
  end
  counting.newestEvent = 'event:' .. formatInteger(offset)
  table.insert(fields, counting.newestEvent)
  table.insert(fields, cjson.encode({
    trigger = trigger, atMs = nowMs, total = counting.total, unique = counting.unique
  }))
end

-- The unique listeners of the play: of each source the identities, or its largest count if that is higher.
local function noteUnique(counting)
  local play = counting.play
  if not play then return end
  local sum = 0
  for _, source in pairs(counting.sources) do sum = sum + math.max(source.most, source.heard) end
  play.unique = math.min(maxInt32, math.max(play.unique, sum, counting.unique))
end

-- Moves an open session to the stream of ended ones. It is not moved if it is not open.
local function endSession(stationId, key, path, token, endMs)
  local field = key .. ' ' .. token
  local session = redis.call('HGET', KEYS[9], field)
  if not session then return end
  redis.call('HDEL', KEYS[9], field)
  redis.call('XADD', KEYS[10], 'MAXLEN', '~', maxEndedSessions, '*', 'session', '[' .. stationId .. ',"' ..
    string.match(key, '^%a+') .. '",' .. cjson.encode(path) .. ',' .. formatInteger(endMs) .. ',' .. string.sub(session, 2))
end

local function endAllSessions(stationId, key, path, endMs)
  for _, field in ipairs(redis.call('HKEYS', KEYS[9])) do
    if string.sub(field, 1, #key + 1) == key .. ' ' then
      endSession(stationId, key, path, string.sub(field, #key + 2), endMs)
    end
  end
end

-- The counts that are shown, as JSON.
local function renderCounts(counting)
  local mounts, remotes, hls = {}, {}, 0
  for key, source in pairs(counting.sources) do
    local kind, id = string.match(key, '^(%a+):(%d+)$')
    if kind == 'hls' then
      hls = hls + source.total
    elseif source.isShown then
      local counts = kind == 'mount' and mounts or remotes
      table.insert(counts, '"' .. id .. '":{"total":' .. formatInteger(source.total) .. ',"unique":' .. formatInteger(source.unique) .. '}')
    end
  end
  return '{"total":' .. formatInteger(counting.total) .. ',"unique":' .. formatInteger(counting.unique) ..
    ',"mounts":{' .. table.concat(mounts, ',') .. '},"remotes":{' .. table.concat(remotes, ',') ..
    '},"hls":' .. formatInteger(hls) .. '}'
end
