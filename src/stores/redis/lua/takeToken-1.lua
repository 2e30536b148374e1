--[[
  Takes a token of a bucket that is refilled steadily. The bucket is stored as the time at which it is full; without a key it is full.
  KEYS: 1 the bucket.
  ARGV: 1 the milliseconds in which a token is refilled, 2 the size of the bucket, 3 1 to take a token, 0 to look only.
  Returns the milliseconds until there is a token; 0 if there is one now.
]]
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local fullAtMs = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), nowMs)
local waitMs = fullAtMs - nowMs - (ARGV[2] - 1) * ARGV[1]
if waitMs > 0 then return math.ceil(waitMs) end
if ARGV[3] == '1' then
  local nextMs = math.ceil(fullAtMs + ARGV[1])
  redis.call('SET', KEYS[1], string.format('%.0f', nextMs), 'PX', nextMs - nowMs)
end
return 0
