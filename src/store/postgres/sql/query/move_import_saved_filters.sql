-- Filters that the team has saved.
insert into core.saved_filters (name, filter, saved_by, saved_at)
{{move_saved_filters_rows}}
