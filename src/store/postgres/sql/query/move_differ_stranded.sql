-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_stranded_rows}}
except all
select at, event_id, event_type, generation, cause
from core.stranded where true) as missing)
     + (select count(*) from core.stranded where true) - cardinality($1::jsonb[])
