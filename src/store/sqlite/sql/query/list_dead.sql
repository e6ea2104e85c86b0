-- A page of dead letters, newest failure first (outbox_dead). The filter is answered by the kinds of failure
-- and the index as far as these know it; a row is read for the rest only.
with wanted (id) as materialized (
  select id from failure_clusters
  where (:event_type is null or event_type = :event_type)
    and (:type_prefix is null or substr(event_type, 1, length(:type_prefix)) = :type_prefix)
    and (:source is null or source = :source)
    and (:target is null or target = :target)
    and (:error_class is null or lower(failure_class) in (lower(:error_class), lower(:error_class) || 'error'))
    and (:fingerprint is null or fingerprint = :fingerprint))
select seq, content_class, channel, generation, status, attempts, last_error, failure_class, fingerprint,
       first_failed_at, failure_history, claimed_at, claimed_by, claim_seq, retry_after, ordering_key,
       published_at, delivered_at, failed_at, deleted_at, progress,
       id, event_type, event_version, occurred_at, source, target, workspace_id, payload, idempotency_key, trace_context
from outbox
where failed_at is not null and deleted_at is null
  and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
  and +cluster_id in wanted
  and (:id is null or seq = (select seq from outbox where id = :id))
  and (:generation is null or generation = :generation)
  and (:workspace_id is null or workspace_id = :workspace_id)
  and (:ordering_key is null or ordering_key = :ordering_key)
  and (:text is null or instr(lower(last_error), lower(:text)))
  and (:except is null or id not in (select value from json_each(:except)))
order by failed_at desc, seq desc
limit :limit
