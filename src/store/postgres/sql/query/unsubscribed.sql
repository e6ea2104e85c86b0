-- Pending events that no subscription of their generation matches, by type and target. Reads the table.
select o.generation, o.event_type, o.target, count(*), min(o.occurred_at)
from core.outbox o
where o.status = 'pending' and o.deleted_at is null
  and not exists (
    select from core.subscriptions s
    where s.generation = o.generation
      and (s.context is null or o.target is null or s.context = o.target)
      and (s.channel is null or s.channel = o.channel)
      and exists (
        select from unnest(s.event_types) as p
        where p = o.event_type or (right(p, 1) = '*' and starts_with(o.event_type, left(p, -1)))))
group by 1, 2, 3
order by 4 desc, 1, 2, 3
limit 100
