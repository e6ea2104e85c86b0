-- The attempt log of a minute, by the index attempts_age.
select json_object(
  'event_id', event_id, 'number', number, 'claim_seq', claim_seq, 'replay', replay, 'handler_name', handler_name,
  'worker', worker, 'started_at', started_at, 'duration_us', duration_us, 'outcome', outcome, 'status_code', status_code,
  'error', error, 'response', response, 'trace_id', trace_id, 'recorded_at', recorded_at)
from attempts
where recorded_at >= :slice and recorded_at < :slice || '~'
order by event_id, number
