select (r ->> 'generation')::bigint, (r ->> 'state'), (r ->> 'note'), (r ->> 'changed_by'),
       (r ->> 'allocated_at')::timestamptz, (r ->> 'activated_at')::timestamptz, (r ->> 'draining_at')::timestamptz,
       (r ->> 'retired_at')::timestamptz
from unnest($1::jsonb[]) as given(r)
