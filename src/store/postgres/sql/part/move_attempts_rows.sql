select (r ->> 'event_id')::uuid as event_id, (r ->> 'number')::int as number, (r ->> 'claim_seq')::bigint as claim_seq, (r ->> 'replay')::int as replay,
       r ->> 'handler_name' as handler_name, r ->> 'worker' as worker, (r ->> 'started_at')::timestamptz as started_at,
       (r ->> 'duration_us')::bigint as duration_us, r ->> 'outcome' as outcome, (r ->> 'status_code')::int as status_code, r ->> 'error' as error,
       r ->> 'response' as response, r ->> 'trace_id' as trace_id, (r ->> 'recorded_at')::timestamptz as recorded_at
from unnest($1::jsonb[]) as given(r)
