-- Filters that the team has saved.
select json_object(
  'name', name, 'filter', filter, 'saved_by', saved_by, 'saved_at', saved_at)
from saved_filters order by name
