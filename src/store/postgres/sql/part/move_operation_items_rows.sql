select (r ->> 'operation_id')::uuid, (r ->> 'place')::bigint, (r ->> 'event_id')::uuid, (r ->> 'claim_seq')::bigint,
       (r ->> 'cycle')::int, (r ->> 'state')
from unnest($1::jsonb[]) as given(r)
