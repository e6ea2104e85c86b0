-- The events of 2,000 numbers, by the primary key, a JSON object each; documents stay text, byte for byte. A cancelled event has no
-- due time on PostgreSQL: the audit has it.
select json_object(
  'id', id, 'seq', seq, 'generation', generation, 'claim_seq', claim_seq, 'occurred_at', occurred_at,
  'published_at', published_at, 'event_version', event_version, 'attempts', attempts, 'failure_history', failure_history,
  'status', status, 'channel', channel, 'event_type', event_type, 'source', source, 'target', target,
  'content_class', content_class, 'ordering_key', ordering_key, 'workspace_id', workspace_id,
  'trace_context', trace_context, 'claimed_at', claimed_at, 'claimed_by', claimed_by, 'delivered_at', delivered_at,
  'retry_after', iif(status = 'pending' and deleted_at is not null, null, retry_after), 'first_failed_at', first_failed_at, 'last_error', last_error, 'failure_class', failure_class,
  'fingerprint', fingerprint, 'deleted_at', deleted_at, 'progress', progress, 'failed_at', failed_at,
  'restored_at', restored_at, 'idempotency_key', idempotency_key, 'payload', payload, 'lane', nullif(lane, ''))
from outbox
where seq > :slice * 2000 and seq <= (:slice + 1) * 2000
order by seq
