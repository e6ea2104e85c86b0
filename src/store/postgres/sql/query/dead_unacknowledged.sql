-- How many dead letters nobody has acknowledged, at most $1. Index outbox_dead_groups, group by group.
select count(*)
from (
    select
    from core.failure_groups c
    cross join lateral (
        select
        from core.outbox o
        where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null
          and o.failed_at > coalesce(c.acknowledged_at, '-infinity')
        limit $1::bigint) e
    limit $1::bigint) found
