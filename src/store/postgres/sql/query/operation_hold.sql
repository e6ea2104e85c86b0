-- Takes or renews the right to carry it out, and counts outcomes.
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped, changed,
       paced_at, actor, surface, reason, note, executor, planned_at, expires_at, started_at, ended_at
from core.operation_hold($1::uuid, $2::text, $3::interval)
