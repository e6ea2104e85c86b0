-- The dead letters that match, by kind (outbox_dead_group), the most numerous first.
with kind as not materialized (
  select * from failure_groups
  where {{group_filter}}),
matching (group_id, failed_at, seq, generation) as not materialized (
  select group_id, failed_at, seq, generation
  from outbox indexed by outbox_dead_group
  where failed_at is not null and deleted_at is null
    and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
{{dead_filter}})
select event_type, source, target, failure_class, fingerprint, sample_error,
       count(*) as events, min(failed_at), max(failed_at) as last_failed_at, min(generation), max(generation),
       first_seen_at, replayed, acknowledged_at, acknowledged_by, acknowledged_reason,
       coalesce(sum(failed_at > acknowledged_at), 0),
       (select newest.generation from matching as newest
        where newest.group_id = kind.id and newest.failed_at > kind.acknowledged_at
        order by newest.failed_at desc, newest.seq desc
        limit 1)
from kind cross join matching on matching.group_id = kind.id
group by kind.id
order by events desc, last_failed_at desc, kind.id
