-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_ladder_samples_rows}}
except all
select hour, rows, latencies
from core.ladder_samples where true) as missing)
     + (select count(*) from core.ladder_samples where true) - cardinality($1::jsonb[])
