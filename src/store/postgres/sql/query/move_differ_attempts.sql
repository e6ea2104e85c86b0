-- How many rows are not stored as they were given, or were not given. Index attempts_age.
select (select count(*) from (
{{move_attempts_rows}}
except all
select event_id, number, claim_seq, replay, handler_name, worker, started_at, duration_us, outcome, status_code, error, response, trace_id, recorded_at
from core.attempts where recorded_at >= ($2::text || ':00Z')::timestamptz and recorded_at < ($2::text || ':00Z')::timestamptz + interval '1 minute') as missing)
     + (select count(*) from core.attempts where recorded_at >= ($2::text || ':00Z')::timestamptz and recorded_at < ($2::text || ':00Z')::timestamptz + interval '1 minute') - cardinality($1::jsonb[])
