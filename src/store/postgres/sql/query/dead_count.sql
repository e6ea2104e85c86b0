-- How many dead letters match, at most $2. Index outbox_dead_clusters, without the table where the filter
-- names only what it holds.
select count(*)
from (
    select
    from core.failure_clusters c
    join core.outbox o on o.cluster_id = c.id
    where o.failed_at is not null and o.deleted_at is null
      and core.cluster_matches(c, $1::jsonb) and core.dead_matches(o, $1::jsonb)
    limit $2::bigint) found
