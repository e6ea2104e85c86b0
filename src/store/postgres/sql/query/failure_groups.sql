-- Dead letters by group. Counts come from outbox_dead_kinds where the filter names nothing else than it
-- holds, kind by kind: measured, a third less than one grouped scan. The first and the last of each kind, and what came
-- back, are found in outbox_dead_groups.
select c.event_type, c.source, c.target, c.failure_class, c.fingerprint, c.sample_error, d.events, f.failed_at, l.failed_at,
       g.first_generation, g.last_generation, c.first_seen_at, c.replayed, c.acknowledged_at, c.acknowledged_by,
       c.acknowledged_reason, coalesce(b.events, 0), b.generation
from core.failure_groups c
cross join lateral (
    select count(*) as events from core.outbox o
    where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null and core.dead_matches(o, $1::jsonb)) d
cross join lateral (
    select min(o.generation) as first_generation, max(o.generation) as last_generation from core.outbox o
    where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null and core.dead_matches(o, $1::jsonb)) g
cross join lateral (
    select o.failed_at from core.outbox o
    where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null and core.dead_matches(o, $1::jsonb)
    order by o.failed_at, o.seq limit 1) f
cross join lateral (
    select o.failed_at from core.outbox o
    where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null and core.dead_matches(o, $1::jsonb)
    order by o.failed_at desc, o.seq desc limit 1) l
left join lateral (
    select count(*) as events,
           (select n.generation from core.outbox n
            where n.group_id = c.id and n.failed_at > c.acknowledged_at and n.deleted_at is null
              and core.dead_matches(n, $1::jsonb)
            order by n.failed_at desc, n.seq desc limit 1) as generation
    from core.outbox o
    where o.group_id = c.id and o.failed_at > c.acknowledged_at and o.deleted_at is null
      and core.dead_matches(o, $1::jsonb)) b on c.acknowledged_at is not null
where core.group_matches(c, $1::jsonb) and d.events > 0
order by d.events desc, l.failed_at desc
