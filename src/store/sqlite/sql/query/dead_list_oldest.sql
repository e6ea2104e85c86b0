-- A page of dead letters, oldest failure first (outbox_dead); else as dead_list.
with wanted (id) as materialized (
  select id from failure_groups
  where {{group_filter}})
select {{event_columns}}
from outbox
where failed_at is not null and deleted_at is null
  and (failed_at, seq) > (:after, :after_seq) and failed_at < :until
  and +group_id in wanted
{{dead_filter}}
order by failed_at, seq
limit :limit
