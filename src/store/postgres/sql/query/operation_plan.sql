-- Freezes the set of a bulk change.
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped, changed,
       paced_at, actor, surface, reason, note, executor, planned_at, expires_at, started_at, ended_at
from core.operation_plan($1::uuid, $2::text, $3::jsonb, $4::uuid[], $5::text, $6::bigint, $7::int, $8::int, $9::int, $10::interval,
                         $11::bigint, $12::text, $13::text, $14::text)
