-- The next events of the set (primary key), and whether they are as the plan saw them.
select item.place, item.event_id, item.cycle,
       coalesce(event.status = 'failed' and (event.deleted_at is not null) = :discarded
                and event.claim_seq = item.claim_seq
                and coalesce(json_extract(event.failure_history, '$[#-1].cycle'), 0) = item.cycle, 0)
from operation_items as item left join outbox as event on event.id = item.event_id
where item.operation_id = :id and item.place > :taken
order by item.place
limit :limit
