-- As relay_report, with what was attempted, in the same transaction. Indexes outbox_pkey, event_handled_pkey, attempts_pkey.
select answer
from core.relay_report_recorded($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[], $8::text[], $9::text[],
                       $10::text[], $11::jsonb[], $12::jsonb[]) as answer
