-- The attempt log of a minute.
insert into core.attempts (event_id, number, claim_seq, replay, handler_name, worker, started_at, duration_us, outcome, status_code, error, response, trace_id, recorded_at)
{{move_attempts_rows}}
