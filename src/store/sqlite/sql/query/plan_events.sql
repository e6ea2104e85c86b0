-- As plan_dead, for events that are named (unique index on id); those in another state are left out.
insert into operation_items (operation_id, place, event_id, claim_seq, cycle)
select :operation_id, row_number() over (order by seq), id, claim_seq,
       coalesce(json_extract(failure_history, '$[#-1].cycle'), 0)
from outbox
where id in (select value from json_each(:event_ids))
  and status = 'failed' and (deleted_at is not null) = :discarded
order by seq
limit :limit
