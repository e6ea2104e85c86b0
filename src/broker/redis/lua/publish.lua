-- Adds a message unless its id was added before. Answers 1 when it was added, 0 when it was there.
-- The id is kept after XADD and not before: where XADD is refused, the next attempt must not pass for a duplicate.
-- KEYS: stream, key of the id. ARGV: milliseconds for which the id is kept, then fields and values.
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('XADD', KEYS[1], '*', unpack(ARGV, 2))
redis.call('SET', KEYS[2], '', 'PX', ARGV[1])
return 1
