-- As plan_dead, for discarded events (outbox_tombstones).
with wanted (id) as materialized (
  select id from failure_clusters
  where (:event_type is null or event_type = :event_type)
    and (:type_prefix is null or substr(event_type, 1, length(:type_prefix)) = :type_prefix)
    and (:source is null or source = :source)
    and (:target is null or target = :target)
    and (:error_class is null or lower(failure_class) in (lower(:error_class), lower(:error_class) || 'error'))
    and (:fingerprint is null or fingerprint = :fingerprint))
insert into operation_items (operation_id, place, event_id, claim_seq, cycle)
select :operation_id, row_number() over (order by seq), id, claim_seq,
       coalesce(json_extract(failure_history, '$[#-1].cycle'), 0)
from outbox indexed by outbox_tombstones
where failed_at is not null and deleted_at is not null
  and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
  and +cluster_id in wanted
  and (:id is null or seq = (select seq from outbox where id = :id))
  and (:generation is null or generation = :generation)
  and (:workspace_id is null or workspace_id = :workspace_id)
  and (:ordering_key is null or ordering_key = :ordering_key)
  and (:text is null or instr(lower(last_error), lower(:text)))
  and (:except is null or id not in (select value from json_each(:except)))
order by seq
limit :limit
