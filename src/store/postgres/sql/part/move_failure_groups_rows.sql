select (r ->> 'event_type'), (r ->> 'source'), (r ->> 'target'), (r ->> 'failure_class'), (r ->> 'fingerprint'),
       (r ->> 'sample_error'), (r ->> 'first_seen_at')::timestamptz, (r ->> 'last_seen_at')::timestamptz,
       (r ->> 'replayed')::bigint, (r ->> 'acknowledged_at')::timestamptz, (r ->> 'acknowledged_by'),
       (r ->> 'acknowledged_reason')
from unnest($1::jsonb[]) as given(r)
