-- A new generation, unless it exists.
insert into deployments (generation, state, note, changed_by, allocated_at)
values (:generation, 'allocated', :note, :changed_by, :now)
on conflict (generation) do nothing
