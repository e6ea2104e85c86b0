-- Hands out messages: first those that are due again, then new ones, no more of a lane than may be under way.
-- The due-set holds every message that is under way, by the time at which it comes again: the end of its ack wait, or
-- its next retry. XAUTOCLAIM knows only idle times, and would take those that wait for a retry.
-- KEYS: the bell, then stream and due-set of each lane; the first lane is that without a key, the others are shards.
-- ARGV: group, consumer, ack wait in ms, how many, how many may be under way of the first lane.
-- Answers: {{lane, entry, delivered, fields}, …}, ms until the next is due or -1, the bell's last id,
-- {{lane, last delivered id}, …} of the lanes that have room.
local group, consumer = ARGV[1], ARGV[2]
local wait, most, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local handed = {}

local function hand(lane, due, entry, delivered)
  redis.call('ZADD', due, now + wait, entry[1])
  handed[#handed + 1] = {lane, entry[1], delivered, entry[2]}
end

local lanes = (#KEYS - 1) / 2
for lane = 0, lanes - 1 do
  local stream, due = KEYS[2 + 2 * lane], KEYS[3 + 2 * lane]
  if #handed < most then
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, most - #handed)) do
      local entries = redis.call('XCLAIM', stream, group, consumer, 0, id)
      if #entries == 0 then
        redis.call('ZREM', due, id) -- dropped from the stream meanwhile
      else
        hand(lane, due, entries[1], redis.call('XPENDING', stream, group, id, id, 1)[1][4])
      end
    end
    local room = math.min(most - #handed, (lane == 0 and limit or 1) - redis.call('ZCARD', due))
    if room > 0 then
      local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', room, 'STREAMS', stream, '>')
      if read then
        for _, entry in ipairs(read[1][2]) do hand(lane, due, entry, 1) end
      end
    end
  end
end
if #handed > 0 then return {handed} end

local next_due, rooms = -1, {}
for lane = 0, lanes - 1 do
  local stream, due = KEYS[2 + 2 * lane], KEYS[3 + 2 * lane]
  local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
  if first[2] and (next_due < 0 or first[2] - now < next_due) then next_due = math.max(0, first[2] - now) end
  if redis.call('ZCARD', due) < (lane == 0 and limit or 1) then
    for _, facts in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
      local named = {}
      for i = 1, #facts, 2 do named[facts[i]] = facts[i + 1] end
      if named['name'] == group then rooms[#rooms + 1] = {lane, named['last-delivered-id']} end
    end
  end
end
local rung = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
return {handed, next_due, rung[1] and rung[1][1] or '0-0', rooms}
