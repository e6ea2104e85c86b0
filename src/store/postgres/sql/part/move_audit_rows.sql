select (r ->> 'id')::bigint, (r ->> 'at')::timestamptz, (r ->> 'actor'), (r ->> 'surface'), (r ->> 'action'),
       (r ->> 'event_id')::uuid, (r ->> 'count')::bigint, (r ->> 'reason'), (r ->> 'detail')::jsonb
from unnest($1::jsonb[]) as given(r)
