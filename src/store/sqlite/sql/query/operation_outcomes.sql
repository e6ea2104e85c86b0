-- What became of the events in flight that have come to an end (operation_items_in_flight; unique index on
-- id of outbox). One that was replayed once more must have failed before.
select place, cycle, state
from (
  select item.place, item.cycle, case
      when event.id is null then 'skipped'
      when event.status = 'delivered' then 'delivered'
      when event.status = 'failed' and event.claim_seq > item.claim_seq then 'failed_again'
      when json_extract(event.failure_history, '$[#-1].cycle') > item.cycle then 'failed_again'
    end as state
  from operation_items as item indexed by operation_items_in_flight left join outbox as event on event.id = item.event_id
  where item.operation_id = :id and item.state = 'in_flight')
where state is not null
