-- How many events of a set are no longer as the plan saw them (primary key; unique index on id of outbox).
select count(*)
from operation_items as item left join outbox as event on event.id = item.event_id
where item.operation_id = :id
  and not coalesce(event.status = 'failed' and (event.deleted_at is not null) = :discarded
                   and event.claim_seq = item.claim_seq
                   and coalesce(json_extract(event.failure_history, '$[#-1].cycle'), 0) = item.cycle, 0)
