-- Pending events that no subscription of their generation matches, by type and target: those with the numbers $2 in the
-- generations $1 (index outbox_scan) and those that waited or wait (index outbox_waiting), or, when $3 is set, all: that
-- reads the table.
with pending as (
    select o.generation, o.event_type, o.target, o.channel, o.occurred_at
    from unnest($1::bigint[], $2::bigint[]) as n(generation, seq)
    join core.outbox o on o.generation = n.generation and o.seq = n.seq
    where o.status = 'pending' and o.retry_after is null and o.deleted_at is null
    union all
    select o.generation, o.event_type, o.target, o.channel, o.occurred_at
    from core.outbox o
    where o.retry_after is not null and o.status = 'pending' and o.deleted_at is null
    union all
    select o.generation, o.event_type, o.target, o.channel, o.occurred_at
    from core.outbox o
    where $3::boolean and o.status = 'pending' and o.retry_after is null and o.deleted_at is null)
select o.generation, o.event_type, o.target, count(*), min(o.occurred_at)
from pending o
where not exists (
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
