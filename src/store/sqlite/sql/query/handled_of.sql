-- Who has handled an event (prefix of the primary key).
select handler_name, idempotency_key, handled_at
from event_handled
where idempotency_key = :idempotency_key
order by handled_at, handler_name
