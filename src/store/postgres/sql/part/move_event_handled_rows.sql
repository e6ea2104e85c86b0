select (r ->> 'handler_name') collate "C" as handler_name, (r ->> 'idempotency_key') collate "C" as idempotency_key, (r ->> 'handled_at')::timestamptz as handled_at, (r ->> 'event_id')::uuid as event_id
from unnest($1::jsonb[]) as given(r)
