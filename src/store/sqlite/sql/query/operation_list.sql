-- Operations, newest first (operations_planned); plans that expired are of no use to anybody.
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped,
       changed, paced_at, actor, surface, reason, note, executor, planned_at, expires_at, started_at, ended_at
from operations
where state <> 'planned' or expires_at > :now
order by planned_at desc, id desc
limit :limit
