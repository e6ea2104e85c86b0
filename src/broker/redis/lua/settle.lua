-- Settles a message. Answers 1, or 0 where it came to somebody else meanwhile and this changes nothing.
-- The bell wakes a consumer that waits: there is room again, or something is due sooner than it knows.
-- KEYS: stream, due-set, bell. ARGV: group, entry, how often it was delivered, done | retry | progress, ms from now.
local group, entry = ARGV[1], ARGV[2]
if ARGV[4] == 'done' then
  redis.call('XACK', KEYS[1], group, entry)
  redis.call('ZREM', KEYS[2], entry)
  redis.call('XADD', KEYS[3], 'MAXLEN', 1, '*', 'rung', 1)
  return 1
end
local pending = redis.call('XPENDING', KEYS[1], group, entry, entry, 1)[1]
if not pending or pending[4] ~= tonumber(ARGV[3]) then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], 'XX', now + ARGV[5], entry)
if ARGV[4] == 'retry' then redis.call('XADD', KEYS[3], 'MAXLEN', 1, '*', 'rung', 1) end
return 1
