-- Operations that run, or whose events are still in flight, and that this executor may carry out, oldest first
-- (operations_running).
select id
from operations
where (state = 'running' or (state in ('paused', 'stopped', 'cancelled') and taken > delivered + failed_again + skipped + changed))
  and (lease_until is null or lease_until <= :now or executor = :executor)
order by started_at, id
