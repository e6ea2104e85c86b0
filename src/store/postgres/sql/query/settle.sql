-- Applies decisions under their fencing tokens; returns the ids that were fenced, the batches that are forgotten, or
-- what waited for the keys that are free now.
select fenced, forgotten, next_generation, next_seq
from core.outbox_settle($1::tid[], $2::timestamptz, $3::timestamptz, $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::uuid[], $9::bigint[], $10::text[],
                        $11::boolean[], $12::boolean[], $13::interval[], $14::timestamptz[], $15::text[], $16::text[], $17::text[],
                        $18::jsonb[], $19::text[], $20::text[], $21::text[], $22::uuid[], $23::bigint, $24::boolean)
