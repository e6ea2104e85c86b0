-- Makes the group of a lane, from the first message on, unless it is there. What is under way and has lost its place in
-- the due-set (evicted, deleted by hand) gets one again: it comes again after the ack wait.
-- KEYS: stream, due-set. ARGV: group, ack wait in ms.
local there = false
if redis.call('EXISTS', KEYS[1]) == 1 then
  for _, facts in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    if facts[2] == ARGV[1] then there = true end
  end
end
if not there then
  redis.call('DEL', KEYS[2])
  redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
  return 1
end
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
local from = '-'
while true do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], from, '+', 1000)
  for _, entry in ipairs(pending) do redis.call('ZADD', KEYS[2], 'NX', due, entry[1]) end
  if #pending < 1000 then return 0 end
  from = '(' .. pending[#pending][1]
end
