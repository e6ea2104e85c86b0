-- Adds messages, each unless its id was added before. Answers for each: 1 when it was added, 0 when it was there, or why it was refused.
-- The id is kept after XADD and not before: where XADD is refused, the next attempt must not pass for a duplicate.
-- Many at once: to call a script for each, and to log each as a transaction, takes the server as long as to add the message.
-- KEYS: of each message its stream and the key of its id. ARGV: milliseconds for which ids are kept, then of each message how many
-- fields and values it has, and these.
local answers, at = {}, 2
for i = 1, #KEYS, 2 do
  local last = at + ARGV[at]
  local answer = 0
  if redis.call('EXISTS', KEYS[i + 1]) == 0 then
    answer = redis.pcall('XADD', KEYS[i], '*', unpack(ARGV, at + 1, last))
    if not answer.err then
      redis.call('SET', KEYS[i + 1], '', 'PX', ARGV[1])
      answer = 1
    end
  end
  answers[#answers + 1] = answer
  at = last + 1
end
return answers
