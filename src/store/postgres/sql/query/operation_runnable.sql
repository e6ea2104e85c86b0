-- Operations that run, or whose events are still in flight, and that nobody else carries out. Index operations_running.
select id
from core.operations
where (state = 'running' or (state in ('paused', 'stopped', 'cancelled') and taken > delivered + failed_again + skipped + changed))
  and (executor = $1::text or lease_until is null or lease_until <= now())
order by started_at, id
