-- Pending events that fell due before :due, that a live worker (seen since :seen) handles and that nothing of their key
-- stands before, the longest due first. Of new ones and of those that waited :most are looked at (outbox_fresh,
-- outbox_due; outbox_key_in_flight, outbox_key_pending).
with live as materialized (
  select s.generation, s.handler_name, s.context, s.channel, pattern.value as pattern
  from subscriptions as s, json_each(s.event_types) as pattern
  where exists (
    select 1 from workers as w, json_each(w.handlers) as handler
    where w.generation = s.generation and handler.value = s.handler_name and w.seen_at > :seen))
select id, event_type, generation, due, handler_name, key_blocked
from (
  select waiting.*, (
    select min(live.handler_name) from live
    where live.generation = waiting.generation
      and (live.context is null or waiting.target is null or live.context = waiting.target)
      and (live.channel is null or live.channel = waiting.channel)
      and (live.pattern = waiting.event_type
           or (substr(live.pattern, -1) = '*'
               and substr(waiting.event_type, 1, length(live.pattern) - 1) = substr(live.pattern, 1, length(live.pattern) - 1)))
      and (waiting.progress is null or exists (
        select 1 from json_each(waiting.progress) as handler
        where handler.value ->> 'handler' = live.handler_name and not coalesce(handler.value ->> 'exhausted', 0)
          and handler.value ->> 'due' <= :due))) as handler_name
  from (
    select * from (
      select id, seq, generation, event_type, target, channel, ordering_key, progress, key_blocked, published_at as due
      from outbox where status = 'pending' and deleted_at is null and retry_after is null and published_at <= :due
      limit :most)
    union all
    select * from (
      select id, seq, generation, event_type, target, channel, ordering_key, progress, key_blocked, retry_after
      from outbox where status = 'pending' and deleted_at is null and retry_after is not null and retry_after <= :due
      limit :most)) as waiting) as late
where handler_name is not null
  and (ordering_key is null or (
    not exists (
      select 1 from outbox as held
      where held.ordering_key = late.ordering_key and held.status = 'in_flight')
    and not exists (
      select 1 from outbox as first
      where first.ordering_key = late.ordering_key and first.status = 'pending' and first.deleted_at is null and first.seq < late.seq and exists (
        select 1 from subscriptions as s, json_each(s.event_types) as pattern
        where s.generation = first.generation
          and (s.context is null or first.target is null or s.context = first.target)
          and (s.channel is null or s.channel = first.channel)
          and (pattern.value = first.event_type
               or (substr(pattern.value, -1) = '*'
                   and substr(first.event_type, 1, length(pattern.value) - 1)
                       = substr(pattern.value, 1, length(pattern.value) - 1)))))))
order by due, seq
limit :limit
