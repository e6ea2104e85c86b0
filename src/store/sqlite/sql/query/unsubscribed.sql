-- Pending events that no subscription of their generation matches, by type and target (outbox_fresh, outbox_due).
select generation, event_type, target, count(*), min(occurred_at)
from (
  select generation, event_type, target, channel, occurred_at
  from outbox where status = 'pending' and deleted_at is null and retry_after is null
  union all
  select generation, event_type, target, channel, occurred_at
  from outbox where status = 'pending' and deleted_at is null and retry_after is not null) as waiting
where not exists (
  select 1 from subscriptions as s, json_each(s.event_types) as pattern
  where s.generation = waiting.generation
    and (s.context is null or waiting.target is null or s.context = waiting.target)
    and (s.channel is null or s.channel = waiting.channel)
    and (pattern.value = waiting.event_type
         or (substr(pattern.value, -1) = '*'
             and substr(waiting.event_type, 1, length(pattern.value) - 1) = substr(pattern.value, 1, length(pattern.value) - 1))))
group by 1, 2, 3
order by 4 desc, 1, 2, 3
limit 100
