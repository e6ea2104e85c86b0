select (r ->> 'name'), (r ->> 'kind'), (r ->> 'target'),
       array(select e from jsonb_array_elements_text(r -> 'handlers') as e), (r ->> 'state'),
       (r ->> 'changed_at')::timestamptz, (r ->> 'changed_by'), (r ->> 'reason'), (r ->> 'opened_at')::timestamptz,
       (r ->> 'open_until')::timestamptz, (r ->> 'open_reason'), (r ->> 'declared_at')::timestamptz
from unnest($1::jsonb[]) as given(r)
