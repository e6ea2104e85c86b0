-- Which of these (handler, key) pairs have been handled. Index event_handled_pkey.
select h.handler_name, h.idempotency_key
from unnest($1::text[], $2::text[]) as k(handler_name, idempotency_key)
join core.event_handled h using (handler_name, idempotency_key)
