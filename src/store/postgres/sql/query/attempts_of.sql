-- The attempt log of one event, from the first to the latest. Index attempts_pkey.
select number, claim_seq, replay, coalesce(handler_name, ''), worker, started_at, duration_us, outcome, coalesce(status_code, 0),
       coalesce(error, ''), coalesce(response, ''), coalesce(trace_id, '')
from core.attempts
where event_id = $1::uuid
order by number
