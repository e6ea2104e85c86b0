-- What became of the events in flight that have come to an end (operation_items_in_flight; unique index on
-- id of outbox). What was cancelled comes to no end. One that was sent again was delivered before, and one that was replayed
-- once more must have failed.
select place, cycle, state
from (
  select item.place, item.cycle, case
      when event.id is null then 'skipped'
      when event.status = 'delivered' then 'delivered'
      when exists (select 1 from json_each(event.failure_history) as entry
                   where entry.value ->> 'cycle' = item.cycle + 1 and entry.value ->> 'delivered_at' is not null) then 'delivered'
      when event.status = 'failed' and event.claim_seq > item.claim_seq then 'failed_again'
      when json_extract(event.failure_history, '$[#-1].cycle') > item.cycle then 'failed_again'
      when event.status = 'pending' and event.deleted_at is not null then 'skipped'
    end as state
  from operation_items as item indexed by operation_items_in_flight left join outbox as event on event.id = item.event_id
  where item.operation_id = :id and item.state = 'in_flight')
where state is not null
