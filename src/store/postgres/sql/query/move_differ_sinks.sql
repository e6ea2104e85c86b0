-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_sinks_rows}}
except all
select name, kind, target, handlers, state, changed_at, changed_by, reason, opened_at, open_until, open_reason, declared_at
from core.sinks where true) as missing)
     + (select count(*) from core.sinks where true) - cardinality($1::jsonb[])
