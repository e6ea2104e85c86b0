-- What became of relayed events at the consumers of a broker, in order. Indexes outbox_pkey, event_handled_pkey.
select answer
from core.relay_report($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[], $8::text[], $9::text[],
                       $10::text[], $11::jsonb[]) as answer
