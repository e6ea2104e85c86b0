-- Running operations that this executor may carry out, oldest first (operations_running).
select id
from operations
where state = 'running' and (lease_until is null or lease_until <= :now or executor = :executor)
order by started_at, id
