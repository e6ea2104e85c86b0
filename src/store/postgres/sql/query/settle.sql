-- Applies decisions under their fencing tokens; returns the ids that were fenced, the batches that are forgotten, or
-- what waited for the keys that are free now.
select fenced, forgotten, next_generation, next_seq
from core.outbox_settle($1::tid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::bigint[], $8::text[],
                        $9::boolean[], $10::boolean[], $11::interval[], $12::timestamptz[], $13::text[], $14::text[], $15::text[],
                        $16::jsonb[], $17::text[], $18::text[], $19::text[], $20::uuid[], $21::bigint, $22::boolean)
