-- A handler has handled an event. Saying it twice is harmless.
insert into event_handled (handler_name, idempotency_key, handled_at, event_id)
values (:handler_name, :idempotency_key, :now, :event_id)
on conflict do nothing
