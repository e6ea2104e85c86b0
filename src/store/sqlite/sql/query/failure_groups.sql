-- The dead letters that match, by kind (outbox_dead_cluster), the most numerous first.
with kind as not materialized (
  select * from failure_clusters
  where (:event_type is null or event_type = :event_type)
    and (:type_prefix is null or substr(event_type, 1, length(:type_prefix)) = :type_prefix)
    and (:source is null or source = :source)
    and (:target is null or target = :target)
    and (:error_class is null or lower(failure_class) in (lower(:error_class), lower(:error_class) || 'error'))
    and (:fingerprint is null or fingerprint = :fingerprint)),
matching (cluster_id, failed_at, seq, generation) as not materialized (
  select cluster_id, failed_at, seq, generation
  from outbox indexed by outbox_dead_cluster
  where failed_at is not null and deleted_at is null
    and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
    and (:id is null or seq = (select seq from outbox where id = :id))
    and (:generation is null or generation = :generation)
    and (:workspace_id is null or workspace_id = :workspace_id)
    and (:ordering_key is null or ordering_key = :ordering_key)
    and (:text is null or instr(lower(last_error), lower(:text)))
    and (:except is null or id not in (select value from json_each(:except))))
select event_type, source, target, failure_class, fingerprint, sample_error,
       count(*) as events, min(failed_at), max(failed_at) as last_failed_at, min(generation), max(generation),
       first_seen_at, replayed, acknowledged_at, acknowledged_by, acknowledged_reason,
       coalesce(sum(failed_at > acknowledged_at), 0),
       (select newest.generation from matching as newest
        where newest.cluster_id = kind.id and newest.failed_at > kind.acknowledged_at
        order by newest.failed_at desc, newest.seq desc
        limit 1)
from kind cross join matching on matching.cluster_id = kind.id
group by kind.id
order by events desc, last_failed_at desc, kind.id
