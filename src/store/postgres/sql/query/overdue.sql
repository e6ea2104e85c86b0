-- Pending events that fell due at least $3 ago, that a live worker (seen within $4) handles and that nothing of their key
-- stands before, the longest due first, at most $5: of those with the numbers $2 in the generations $1 (index
-- outbox_scan, once per number: a plain join might read the table), and of the $6 longest due of each lane of a live worker
-- (index outbox_waiting).
with live as materialized (
    select s.generation, s.handler_name, s.event_types, s.context, s.channel
    from core.subscriptions s
    where exists (
        select from core.workers w
        where w.generation = s.generation and s.handler_name = any (w.handlers) and w.seen_at > now() - $4::interval)),
pending as (
    select o.*
    from unnest($1::bigint[], $2::bigint[]) as n(generation, seq)
    cross join lateral (
        select o.id, o.seq, o.generation, o.event_type, o.target, o.channel, o.ordering_key, o.progress, o.published_at as due,
               true as fresh
        from core.outbox o
        where o.generation = n.generation and o.seq = n.seq and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
          and o.published_at <= now() - $3::interval
        limit 1) o
    union all
    select w.*
    from (select distinct l.generation, split_part(l.handler_name, '.', 1) as lane from live l
          union select l.generation, '' from live l) as l
    cross join lateral (
        select o.id, o.seq, o.generation, o.event_type, o.target, o.channel, o.ordering_key, o.progress, o.retry_after, false
        from core.outbox o
        where o.generation = l.generation and coalesce(o.lane, '') = l.lane and o.retry_after <= now() - $3::interval
          and o.status = 'pending' and o.deleted_at is null
        order by o.retry_after
        limit $6::int) w)
select o.id, o.event_type, o.generation, o.due, h.handler_name,
       o.fresh and exists (
           select from core.claim_cursors c
           where c.generation = o.generation and c.low >= o.seq
             and (c.interests is null or o.channel || '/' || coalesce(o.target, '*') || '/' || o.event_type like any (c.interests)))
from pending o
cross join lateral (
    select l.handler_name from live l
    where l.generation = o.generation
      and (l.context is null or o.target is null or l.context = o.target)
      and (l.channel is null or l.channel = o.channel)
      and exists (
        select from unnest(l.event_types) as p
        where p = o.event_type or (right(p, 1) = '*' and starts_with(o.event_type, left(p, -1))))
      and (o.progress is null or exists (
        select from jsonb_array_elements(o.progress) as w
        where w ->> 'handler' = l.handler_name and not coalesce((w ->> 'exhausted')::boolean, false)
          and (w ->> 'due')::timestamptz <= now() - $3::interval))
    order by l.handler_name
    limit 1) h
where o.ordering_key is null or core.outbox_blocker(o.ordering_key, o.seq, o.id) is null
order by o.due
limit $5::int
