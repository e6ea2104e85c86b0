select (r ->> 'at')::timestamptz, (r ->> 'event_id')::uuid, (r ->> 'event_type'), (r ->> 'generation')::bigint,
       (r ->> 'cause')
from unnest($1::jsonb[]) as given(r)
