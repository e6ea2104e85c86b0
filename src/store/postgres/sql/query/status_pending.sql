-- Generation $1: the oldest of the pending events with these numbers; how many others waited or wait, how many of them are not
-- due yet, and the oldest of the first $3 of them. Indexes outbox_scan and outbox_waiting: what is in the latter is pending.
select (select min(o.occurred_at)
        from unnest($2::bigint[]) as n(seq), lateral (
            select o.occurred_at from core.outbox o where o.generation = $1::bigint and o.seq = n.seq offset 0) o),
       w.events, w.not_due,
       (select min(l.occurred_at)
        from (select o.occurred_at from core.outbox o where o.generation = $1::bigint and o.retry_after is not null limit $3::int) l)
from (
    select count(*) as events, count(*) filter (where o.retry_after > now()) as not_due
    from core.outbox o where o.generation = $1::bigint and o.retry_after is not null) w
