-- All generations.
insert into core.deployments (generation, state, note, changed_by, allocated_at, activated_at, draining_at, retired_at)
{{move_deployments_rows}}
