-- The filters that the team keeps, by name; a handful.
select f.name, f.filter, f.saved_by, f.saved_at from core.saved_filters f order by f.name
