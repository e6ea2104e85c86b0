-- As plan_dead, for discarded events (outbox_tombstones).
with wanted (id) as materialized (
  select id from failure_groups
  where {{group_filter}})
insert into operation_items (operation_id, place, event_id, claim_seq, cycle)
select :operation_id, row_number() over (order by seq), id, claim_seq,
       coalesce(json_extract(failure_history, '$[#-1].cycle'), 0)
from outbox indexed by outbox_tombstones
where failed_at is not null and deleted_at is not null
  and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
  and +group_id in wanted
{{dead_filter}}
order by seq
limit :limit
