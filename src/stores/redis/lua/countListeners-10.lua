--[[
  Applies a report of listeners to the counts of a station, and publishes them if they changed.
  KEYS: as in commitStation-10.lua.
  ARGV: 1 station id, 2 the report as JSON (see `CountsReport`), 3 the time in Unix milliseconds.
  Returns a status and a text. `missing`: no state is stored. `refused`: the text lists sources as `INDEX PROBLEM`.
  `outdated`: the identities of a source changed since they were read. In these three nothing was changed. `unchanged`;
  `counted`: the text is `events` if events for web hooks wait for the flush.
]]
local position = redis.call('HGET', KEYS[1], 'position')
local counting = position and decode(redis.call('HGET', KEYS[8], 'counting'))
if not counting then return { 'missing', '' } end
local stationId, nowMs = ARGV[1], tonumber(ARGV[3])
local epoch, storedOffset, rest = splitPosition(position)
local report = cjson.decode(ARGV[2])

local byPath = {}
for key, source in pairs(counting.sources) do
  byPath[string.match(key, '^%a+:') .. source.path] = key
end
local problems, matched, seen = {}, {}, {}
for index, count in ipairs(report.counts) do
  local key = count.id and count.kind .. ':' .. formatInteger(count.id) or byPath[count.kind .. ':' .. count.path]
  local source = key and counting.sources[key]
  if not source then
    table.insert(problems, (index - 1) .. ' not_found')
  elseif seen[key] then
    table.insert(problems, (index - 1) .. ' duplicate')
  else
    seen[key] = true
    table.insert(matched, { key = key, source = source, count = count })
  end
end
if #problems > 0 and not report.ignoresUnknown then return { 'refused', table.concat(problems, ',') } end
for _, each in ipairs(matched) do
  if each.count.version and each.count.version ~= each.source.version then return { 'outdated', each.key } end
end

local newOffset
-- The offset of this report, which is above all that were ever sent.
local function offsetOfReport()
  newOffset = newOffset or nextOffset(math.max(storedOffset, counting.newestOffset or 0) + 1)
  return newOffset
end

local ordinal = 0
-- Ends sessions and begins others, in this order. Returns how many.
local function moveSessions(key, source, sessions)
  if not sessions then return 0 end
  for _, session in ipairs(sessions.ended) do endSession(stationId, key, source.path, session[1], session[2]) end
  for _, session in ipairs(sessions.opened) do
    redis.call('HSET', KEYS[9], key .. ' ' .. session[1], '[' .. formatInteger(offsetOfReport()) .. ',' .. ordinal .. ',' ..
      formatInteger(session[2]) .. ',' .. session[3] .. ']')
    ordinal = ordinal + 1
  end
  source.isTracked = true
  return #sessions.ended + #sessions.opened
end

-- Records which identities connected and disconnected, and their sessions. Returns whether any did.
local function moveIdentities(key, source, came, left, sessions)
  for _, identity in ipairs(came) do
    local member = key .. ' ' .. identity
    local leftMs = redis.call('ZSCORE', KEYS[6], member)
    if not leftMs then source.heard = source.heard + 1 end
    if not leftMs or tonumber(leftMs) ~= connectedScore then source.connected = source.connected + 1 end
    redis.call('ZADD', KEYS[6], formatInteger(connectedScore), member)
  end
  for _, identity in ipairs(left) do
    redis.call('ZADD', KEYS[6], 'XX', formatInteger(nowMs), key .. ' ' .. identity)
    source.connected = math.max(0, source.connected - 1)
  end
  if #came + #left + moveSessions(key, source, sessions) == 0 then return false end
  source.version = source.version + 1
  return true
end

local function connectedTo(key)
  local found = {}
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], formatInteger(connectedScore), '+inf')) do
    if string.sub(member, 1, #key + 1) == key .. ' ' then table.insert(found, string.sub(member, #key + 2)) end
  end
  return found
end

local isShown, isMoved = false, false
for _, each in ipairs(matched) do
  local key, source, count = each.key, each.source, each.count
  if count.version then
    isMoved = moveIdentities(key, source, count.came, count.left, count.sessions) or isMoved
  elseif source.connected > 0 then
    isMoved = moveIdentities(key, source, {}, connectedTo(key)) or isMoved
    endAllSessions(stationId, key, source.path, nowMs)
  end
  if source.total ~= count.total or source.unique ~= count.unique then
    source.total, source.unique = count.total, count.unique
    source.most = math.max(source.most, count.unique)
    isShown = true
  end
end

local total, unique = 0, 0
if report.totals ~= cjson.null then
  total, unique = report.totals.total, report.totals.unique
else
  for _, source in pairs(counting.sources) do total, unique = total + source.total, unique + source.unique end
end
total, unique = math.min(maxInt32, total), math.min(maxInt32, unique)
local was = counting.total
isShown = isShown or total ~= was or unique ~= counting.unique
if not isShown and not isMoved then return { 'unchanged', '' } end

local fields = {}
setTotals(counting, total, unique, nowMs, fields)
noteUnique(counting)
if isMoved then
  redis.call('EXPIRE', KEYS[6], 172800)
  redis.call('EXPIRE', KEYS[9], 172800)
end

local offset = offsetOfReport()
counting.newestOffset = offset
local trigger = total > was and 'listener_gained' or total < was and 'listener_lost' or nil
if trigger then noteEvent(counting, trigger, nowMs, offset, fields) end
if isShown then
  position = epoch .. ':' .. formatInteger(offset) .. ':' .. rest
  local counts = renderCounts(counting)
  redis.call('HSET', KEYS[1], 'counts', counts)
  storePosition(position, stationId, offset)
  redis.call('SPUBLISH', KEYS[5], '{"stationId":' .. stationId .. ',"position":"' .. position ..
    '","triggers":[' .. (trigger and '"' .. trigger .. '"' or '') .. '],"counts":' .. counts .. '}')
end
redis.call('HSET', KEYS[8], 'counting', cjson.encode(counting), unpack(fields))
redis.call('ZADD', KEYS[7], formatInteger(offset), stationId)
return { 'counted', counting.events > 0 and 'events' or '' }
