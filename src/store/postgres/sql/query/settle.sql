-- Applies decisions under their fencing tokens; returns the ids that were fenced.
select fenced
from core.outbox_settle($1::tid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::uuid[], $6::bigint[], $7::text[], $8::boolean[],
                        $9::boolean[], $10::interval[], $11::timestamptz[], $12::text[], $13::text[], $14::text[], $15::jsonb[],
                        $16::text[], $17::text[], $18::text[], $19::uuid[], $20::bigint, $21::boolean) as fenced
