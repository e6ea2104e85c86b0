-- Deletes the batch that retention_count_handled counts.
delete from event_handled
where (idempotency_key, handler_name) in (
  select idempotency_key, handler_name from event_handled where handled_at <= :cutoff order by handled_at limit :limit)
