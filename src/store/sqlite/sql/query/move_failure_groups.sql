-- All groups of failures.
select json_object(
  'event_type', event_type, 'source', source, 'target', target, 'failure_class', failure_class, 'fingerprint', fingerprint,
  'sample_error', sample_error, 'first_seen_at', first_seen_at, 'last_seen_at', last_seen_at, 'replayed', replayed,
  'acknowledged_at', acknowledged_at, 'acknowledged_by', acknowledged_by, 'acknowledged_reason', acknowledged_reason)
from failure_groups order by id
