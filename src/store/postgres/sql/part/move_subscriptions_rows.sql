select (r ->> 'generation')::bigint, (r ->> 'handler_name'),
       array(select e from jsonb_array_elements_text(r -> 'event_types') as e), (r ->> 'context'), (r ->> 'channel'),
       (r ->> 'registered_at')::timestamptz, (r ->> 'declared_by'), (r ->> 'served_at')::timestamptz
from unnest($1::jsonb[]) as given(r)
