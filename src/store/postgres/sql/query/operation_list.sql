-- The newest operations; plans that nobody started in time are left out. Index operations_recent.
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped, changed,
       paced_at, actor, surface, reason, note, executor, planned_at, expires_at, started_at, ended_at
from core.operations
where state <> 'planned' or expires_at > now()
order by planned_at desc, id desc
limit $1::int
