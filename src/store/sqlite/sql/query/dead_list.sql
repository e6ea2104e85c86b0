-- A page of dead letters, newest failure first (outbox_dead). The filter is answered by the groups
-- and the index as far as these know it; a row is read for the rest only.
with wanted (id) as materialized (
  select id from failure_groups
  where {{group_filter}})
select {{event_columns}}
from outbox
where failed_at is not null and deleted_at is null
  and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
  and +group_id in wanted
{{dead_filter}}
order by failed_at desc, seq desc
limit :limit
