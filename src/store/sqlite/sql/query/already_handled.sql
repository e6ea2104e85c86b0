-- Has this handler handled this key? (primary key)
select 1 from event_handled where idempotency_key = :idempotency_key and handler_name = :handler_name
