-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_saved_filters_rows}}
except all
select name, filter, saved_by, saved_at
from core.saved_filters where true) as missing)
     + (select count(*) from core.saved_filters where true) - cardinality($1::jsonb[])
