-- pause, resume, cancel or another rate, audited.
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped, changed,
       paced_at, actor, surface, reason, note, executor, planned_at, expires_at, started_at, ended_at
from core.operation_change($1::uuid, $2::text, $3::int, $4::text, $5::text, $6::text)
