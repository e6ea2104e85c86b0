-- Dead letters by kind of failure. One pass over outbox_dead_clusters, without the table where the filter
-- names only what it holds; then a look at the newest of each kind that somebody knows about.
select c.event_type, c.source, c.target, c.failure_class, c.fingerprint, c.sample_error, d.events, d.first_failed_at,
       d.last_failed_at, d.first_generation, d.last_generation, c.first_seen_at, c.replayed, c.acknowledged_at,
       c.acknowledged_by, c.acknowledged_reason, coalesce(b.events, 0), b.generation
from core.failure_clusters c
join (
    select o.cluster_id, count(*) as events, min(o.failed_at) as first_failed_at, max(o.failed_at) as last_failed_at,
           min(o.generation) as first_generation, max(o.generation) as last_generation
    from core.outbox o
    where o.failed_at is not null and o.deleted_at is null
      and o.cluster_id = any (array(select k.id from core.failure_clusters k where core.cluster_matches(k, $1::jsonb)))
      and core.dead_matches(o, $1::jsonb)
    group by o.cluster_id) d on d.cluster_id = c.id
left join lateral (
    select count(*) as events,
           (select n.generation from core.outbox n
            where n.cluster_id = c.id and n.failed_at > c.acknowledged_at and n.deleted_at is null
              and core.dead_matches(n, $1::jsonb)
            order by n.failed_at desc, n.seq desc limit 1) as generation
    from core.outbox o
    where o.cluster_id = c.id and o.failed_at > c.acknowledged_at and o.deleted_at is null
      and core.dead_matches(o, $1::jsonb)) b on c.acknowledged_at is not null
order by d.events desc, d.last_failed_at desc
