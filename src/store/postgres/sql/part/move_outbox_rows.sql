select (r ->> 'id')::uuid, (r ->> 'seq')::bigint, (r ->> 'generation')::bigint, (r ->> 'claim_seq')::bigint,
       (r ->> 'occurred_at')::timestamptz, (r ->> 'published_at')::timestamptz, (r ->> 'event_version')::int,
       (r ->> 'attempts')::int, (r ->> 'failure_history')::jsonb, (r ->> 'status'), (r ->> 'channel'), (r ->> 'event_type'),
       (r ->> 'source'), (r ->> 'target'), (r ->> 'content_class'), (r ->> 'ordering_key'), (r ->> 'workspace_id')::uuid,
       (r ->> 'trace_context'), (r ->> 'claimed_at')::timestamptz, (r ->> 'claimed_by'),
       (r ->> 'delivered_at')::timestamptz, (r ->> 'retry_after')::timestamptz, (r ->> 'first_failed_at')::timestamptz,
       (r ->> 'last_error'), (r ->> 'failure_class'), (r ->> 'fingerprint'), (r ->> 'deleted_at')::timestamptz,
       (r ->> 'progress')::jsonb, (r ->> 'failed_at')::timestamptz, (r ->> 'restored_at')::timestamptz,
       (r ->> 'idempotency_key'), (r ->> 'payload')::jsonb, (r ->> 'lane')
from unnest($1::jsonb[]) with ordinality as given(r, place)
