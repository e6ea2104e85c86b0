-- Pending events that fell due at least $3 ago, that a live worker (seen within $4) handles and that nothing of their key
-- stands before, the longest due first, at most $5: of those with the numbers $2 in the generations $1 (index
-- outbox_scan, once per number: a plain join might read the table), and of the $6 longest due of each lane of a live worker (index outbox_waiting). In the way of a key is
-- one in flight or one of the 1000 before it (index outbox_ordering).
with live as materialized (
    select s.generation, s.handler_name, s.event_types, s.context, s.channel
    from core.subscriptions s
    where exists (
        select from core.workers w
        where w.generation = s.generation and s.handler_name = any (w.handlers) and w.seen_at > now() - $4::interval)),
marks as materialized (
    select split_part(c.group_key, '|', 1) as generation, (string_to_array(c.group_key, '|'))[2:] as patterns, c.low
    from core.claim_cursors c),
held as materialized (
    select distinct o.ordering_key
    from core.claims c cross join unnest(c.seqs) as n(seq)
    cross join lateral (
        select o.ordering_key from core.outbox o
        where o.generation = c.generation and o.seq = n.seq and o.status = 'in_flight'
        limit 1) o
    where o.ordering_key is not null),
pending as (
    select o.*
    from unnest($1::bigint[], $2::bigint[]) as n(generation, seq)
    cross join lateral (
        select o.id, o.seq, o.generation, o.event_type, o.target, o.channel, o.ordering_key, o.progress, o.published_at as due,
               true as fresh
        from core.outbox o
        where o.generation = n.generation and o.seq = n.seq and o.status = 'pending' and o.retry_after is null
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
           select from marks m
           where m.generation = o.generation::text and m.low >= o.seq
             and (m.patterns = '{}' or o.channel || '/' || coalesce(o.target, '*') || '/' || o.event_type like any (m.patterns)))
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
where o.ordering_key is null or (
    o.ordering_key not in (select k.ordering_key from held k)
    and not exists (
        select from (
            select b.* from core.outbox b
            where b.ordering_key = o.ordering_key and b.seq < o.seq
            order by b.seq desc limit 1000) b
        where b.status = 'in_flight' or (b.status = 'pending' and b.deleted_at is null and exists (
            select from core.subscriptions s
            where s.generation = b.generation
              and (s.context is null or b.target is null or s.context = b.target)
              and (s.channel is null or s.channel = b.channel)
              and exists (
                select from unnest(s.event_types) as p
                where p = b.event_type or (right(p, 1) = '*' and starts_with(b.event_type, left(p, -1))))))))
order by o.due
limit $5::int
