-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_deployments_rows}}
except all
select generation, state, note, changed_by, allocated_at, activated_at, draining_at, retired_at
from core.deployments where true) as missing)
     + (select count(*) from core.deployments where true) - cardinality($1::jsonb[])
