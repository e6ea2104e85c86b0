-- How many groups are not stored as they were given.
select count(*) from (
{{move_failure_groups_rows}}
except all
select event_type, source, target, failure_class, fingerprint, sample_error, first_seen_at, last_seen_at, replayed,
    acknowledged_at, acknowledged_by, acknowledged_reason
from core.failure_groups) as missing
