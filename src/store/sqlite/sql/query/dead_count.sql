-- How many dead letters match, up to a limit; the walk of dead_list.
with wanted (id) as materialized (
  select id from failure_groups
  where {{group_filter}})
select count(*)
from (
  select 1
  from outbox
  where failed_at is not null and deleted_at is null
    and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
    and +group_id in wanted
{{dead_filter}}
  order by failed_at desc, seq desc
  limit :limit)
