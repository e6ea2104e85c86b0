-- The filters that the team keeps, by name; a handful.
select name, filter, saved_by, saved_at from saved_filters order by name
