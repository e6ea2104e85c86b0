-- Which of these (handler, key) pairs have been handled; see core.handled_among. Index event_handled_pkey.
select handler_name, idempotency_key from core.handled_among($1::text[], $2::text[])
