-- Running operations that nobody else carries out. Index operations_running.
select id
from core.operations
where state = 'running' and (executor = $1::text or lease_until is null or lease_until <= now())
order by started_at, id
