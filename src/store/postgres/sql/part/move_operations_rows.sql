select (r ->> 'id')::uuid, (r ->> 'kind'), (r ->> 'state'), (r ->> 'filter'), (r ->> 'to_generation')::bigint,
       (r ->> 'rate')::int, (r ->> 'canary')::int, (r ->> 'stop_percent')::int, (r ->> 'total')::bigint,
       (r ->> 'taken')::bigint, (r ->> 'delivered')::bigint, (r ->> 'failed_again')::bigint, (r ->> 'skipped')::bigint,
       (r ->> 'changed')::bigint, (r ->> 'paced_at')::timestamptz, (r ->> 'actor'), (r ->> 'surface'), (r ->> 'reason'),
       (r ->> 'note'), (r ->> 'executor'), (r ->> 'lease_until')::timestamptz, (r ->> 'planned_at')::timestamptz,
       (r ->> 'expires_at')::timestamptz, (r ->> 'started_at')::timestamptz, (r ->> 'ended_at')::timestamptz
from unnest($1::jsonb[]) as given(r)
