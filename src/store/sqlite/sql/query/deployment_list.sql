-- Every generation that was allocated.
select generation, state, note, changed_by, allocated_at, activated_at, draining_at, retired_at
from deployments
order by generation
