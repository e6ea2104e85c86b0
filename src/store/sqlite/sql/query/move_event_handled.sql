-- The dedup rows of a minute, by the index event_handled_age.
select json_object(
  'handler_name', handler_name, 'idempotency_key', idempotency_key, 'handled_at', handled_at, 'event_id', event_id)
from event_handled
where handled_at >= :slice and handled_at < :slice || '~'
order by idempotency_key, handler_name
