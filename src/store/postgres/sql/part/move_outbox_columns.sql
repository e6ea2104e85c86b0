id, seq, generation, claim_seq, occurred_at, published_at, event_version, attempts, failure_history, status, channel,
       event_type, source, target, content_class, ordering_key, workspace_id, trace_context, claimed_at, claimed_by,
       delivered_at, retry_after, first_failed_at, last_error, failure_class, fingerprint, deleted_at, progress, failed_at,
       restored_at, idempotency_key, payload, lane
