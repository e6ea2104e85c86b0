select r ->> 'name', r ->> 'filter', r ->> 'saved_by', (r ->> 'saved_at')::timestamptz
from unnest($1::jsonb[]) as given(r)
