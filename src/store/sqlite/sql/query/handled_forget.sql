-- A handler's dedup row is set aside (primary key).
delete from event_handled where idempotency_key = :idempotency_key and handler_name = :handler_name
