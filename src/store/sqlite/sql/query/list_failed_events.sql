-- list_events for failed events only: walks outbox_failed, so that a long history costs nothing.
select seq, content_class, channel, generation, status, attempts, last_error, failure_class, fingerprint,
       first_failed_at, failure_history, claimed_at, claimed_by, claim_seq, retry_after, ordering_key,
       published_at, delivered_at, failed_at, deleted_at, progress,
       id, event_type, event_version, occurred_at, source, target, workspace_id, payload, idempotency_key, trace_context
from outbox
where status = 'failed' and seq < :before_seq
  and (:status is null or status = :status)
  and (:include_deleted or deleted_at is null)
  -- Looked up once; then compared without reading the row.
  and (:id is null or seq = (select seq from outbox where id = :id))
  and (:event_type is null or event_type = :event_type)
  and (:type_prefix is null or substr(event_type, 1, length(:type_prefix)) = :type_prefix)
  and (:source is null or source = :source)
  and (:target is null or target = :target)
  and (:generation is null or generation = :generation)
  and (:workspace_id is null or workspace_id = :workspace_id)
  and (:error_class is null or lower(failure_class) in (lower(:error_class), lower(:error_class) || 'error'))
  and (:fingerprint is null or fingerprint = :fingerprint)
  and (:ordering_key is null or ordering_key = :ordering_key)
  and (:text is null or instr(lower(last_error), lower(:text)))
  and (:since is null or occurred_at >= :since)
  and (:until is null or occurred_at < :until)
order by seq desc
limit :limit
