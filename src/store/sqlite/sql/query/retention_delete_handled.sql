-- Deletes the batch that retention_count_handled counts.
delete from event_handled
where (idempotency_key, handler_name) in (
  select idempotency_key, handler_name from event_handled where handled_at <= :cutoff
    and not exists (select 1 from outbox where outbox.id = event_handled.event_id)
  order by handled_at limit :limit)
