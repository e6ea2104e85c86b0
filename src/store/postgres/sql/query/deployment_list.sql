-- All generations, oldest first.
select generation, state, note, changed_by, allocated_at, activated_at, draining_at, retired_at
from core.deployments
order by generation
