-- The groups of failures, by what they are made of: dead letters that arrived before have made theirs already.
insert into core.failure_groups (event_type, source, target, failure_class, fingerprint, sample_error, first_seen_at, last_seen_at, replayed,
    acknowledged_at, acknowledged_by, acknowledged_reason)
{{move_failure_groups_rows}}
on conflict (fingerprint, event_type, failure_class, source, coalesce(target, '')) do update
set sample_error = excluded.sample_error, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
    replayed = excluded.replayed, acknowledged_at = excluded.acknowledged_at, acknowledged_by = excluded.acknowledged_by,
    acknowledged_reason = excluded.acknowledged_reason
