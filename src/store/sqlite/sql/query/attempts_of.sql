-- The attempt log of one event, from the first to the latest. Primary key.
select number, claim_seq, replay, coalesce(handler_name, ''), worker, started_at, duration_us, outcome, coalesce(status_code, 0),
       coalesce(error, ''), coalesce(response, ''), coalesce(trace_id, '')
from attempts
where event_id = :event_id
order by number
