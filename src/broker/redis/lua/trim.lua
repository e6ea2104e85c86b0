-- Drops the oldest messages of a stream that is too long, but none that a group has not settled: not those it has not
-- read, and not those it has under way. Looks at a few hundred at a time; the next publish goes on.
-- KEYS: stream. ARGV: how many may stay.
local surplus = redis.call('XLEN', KEYS[1]) - ARGV[1]
if surplus <= 0 then return 0 end

local function before(a, b)
  local a1, a2 = string.match(a, '(%d+)-(%d+)')
  local b1, b2 = string.match(b, '(%d+)-(%d+)')
  a1, b1 = tonumber(a1), tonumber(b1)
  return a1 < b1 or (a1 == b1 and tonumber(a2) < tonumber(b2))
end

-- Per group the first message that it needs; everything before may go.
local needed = nil
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local facts = {}
  for i = 1, #group, 2 do facts[group[i]] = group[i + 1] end
  local first = nil
  if facts['pending'] > 0 then
    first = redis.call('XPENDING', KEYS[1], facts['name'])[2]
  else
    local unread = redis.call('XRANGE', KEYS[1], '(' .. facts['last-delivered-id'], '+', 'COUNT', 1)
    if #unread > 0 then first = unread[1][1] end
  end
  if first and (not needed or before(first, needed)) then needed = first end
end

local dropped = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', math.min(surplus, 500))) do
  if needed and not before(entry[1], needed) then break end
  dropped[#dropped + 1] = entry[1]
end
if #dropped > 0 then redis.call('XDEL', KEYS[1], unpack(dropped)) end
return #dropped
