-- The event of ordering key $1 that goes before number $2 (event $3): one in flight, else the nearest earlier one that is
-- pending and that somebody subscribes to. Of a key with a long history the nearest 10,000 on either side are looked
-- at. Index outbox_ordering.
select b.id
from (
    (select o.* from core.outbox o where o.ordering_key = $1::text and o.seq < $2::bigint order by o.seq desc limit 10000)
    union all
    (select o.* from core.outbox o where o.ordering_key = $1::text and o.seq > $2::bigint order by o.seq limit 10000)) b
where b.id <> $3::uuid and (b.status = 'in_flight' or (
    b.status = 'pending' and b.seq < $2::bigint and b.deleted_at is null and exists (
        select from core.subscriptions s
        where s.generation = b.generation
          and (s.context is null or b.target is null or s.context = b.target)
          and (s.channel is null or s.channel = b.channel)
          and exists (
            select from unnest(s.event_types) as p
            where p = b.event_type or (right(p, 1) = '*' and starts_with(b.event_type, left(p, -1)))))))
order by b.status, b.seq desc
limit 1
