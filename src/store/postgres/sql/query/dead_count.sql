-- How many dead letters match, at most $2. Index outbox_dead_kinds where the filter names nothing else than it holds,
-- else outbox_dead_groups.
select count(*)
from (
    select
    from core.outbox o
    where o.failed_at is not null and o.deleted_at is null
      and o.group_id = any (array(select k.id from core.failure_groups k where core.group_matches(k, $1::jsonb)))
      and core.dead_matches(o, $1::jsonb)
    limit $2::bigint) found
