-- planned -> running, audited.
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped, changed,
       paced_at, actor, surface, reason, note, executor, planned_at, expires_at, started_at, ended_at
from core.operation_start($1::uuid, $2::bigint, $3::int, $4::int, $5::int, $6::text, $7::text, $8::text)
