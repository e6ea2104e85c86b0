-- The dedup rows of a minute.
insert into core.event_handled (handler_name, idempotency_key, handled_at, event_id)
{{move_event_handled_rows}}
