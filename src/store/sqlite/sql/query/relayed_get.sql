-- How far a relayed event has come, which replay this is, and whether a report may change it. Unique index on id.
select id, coalesce(json_extract(failure_history, '$[#-1].cycle'), 0), coalesce(progress, ''), status,
       instr(coalesce(claimed_by, ''), '/relay:') > 0 or status in ('pending', 'in_flight'),
       json_extract(failure_history, '$[#-1].replayed_at')
from outbox
where id = :id and deleted_at is null
