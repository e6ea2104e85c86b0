-- Keeps a filter under its name.
insert into saved_filters (name, filter, saved_by, saved_at) values (:name, :filter, :saved_by, :saved_at)
on conflict (name) do update set filter = excluded.filter, saved_by = excluded.saved_by, saved_at = excluded.saved_at
