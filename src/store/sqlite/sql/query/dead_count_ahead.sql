-- How many of the next events of an operation are dead letters that match: by its set (primary key), event by event (id).
with wanted (id) as materialized (
  select id from failure_groups
  where {{group_filter}}),
ahead (event_id) as materialized (
  select event_id from operation_items
  where operation_id = :operation_id and state = 'waiting'
    and place > (select taken from operations where id = :operation_id)
  order by place
  limit :limit)
select count(*)
from ahead
cross join outbox on outbox.id = ahead.event_id
where failed_at is not null and deleted_at is null
  and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
  and +group_id in wanted
{{dead_filter}}
