-- How many matching dead letters failed in each stretch of $3 seconds from $2 on. Index outbox_dead_groups.
select floor(extract(epoch from e.failed_at - $2::timestamptz) / $3::bigint)::bigint as place, count(*)
from core.failure_groups c
cross join lateral (
    select o.failed_at from core.outbox o
    where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null and o.failed_at >= $2::timestamptz
      and core.dead_matches(o, $1::jsonb)) e
where core.group_matches(c, $1::jsonb)
group by place
