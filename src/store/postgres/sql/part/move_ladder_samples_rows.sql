select (r ->> 'hour')::timestamptz, (r ->> 'rows')::bigint,
       array(select e::bigint from jsonb_array_elements_text(r -> 'latencies') as e)
from unnest($1::jsonb[]) as given(r)
