-- An EventRecord, without its payload for :heads_only.
seq, content_class, channel, generation, status, attempts, last_error, failure_class, fingerprint,
first_failed_at, failure_history, claimed_at, claimed_by, claim_seq, retry_after, ordering_key,
published_at, delivered_at, failed_at, deleted_at, progress,
id, event_type, event_version, occurred_at, source, target, workspace_id, iif(:heads_only, 'null', payload), idempotency_key, trace_context
