-- As settle, with what was attempted, in the same transaction. Indexes of settle, and attempts_pkey.
select fenced, forgotten, next_generation, next_seq
from core.outbox_settle_recorded($1::tid[], $2::timestamptz, $3::timestamptz, $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::uuid[], $9::bigint[],
                        $10::text[], $11::boolean[], $12::boolean[], $13::interval[], $14::timestamptz[], $15::text[], $16::text[], $17::text[],
                        $18::jsonb[], $19::text[], $20::text[], $21::text[], $22::uuid[], $23::bigint, $24::boolean, $25::jsonb)
