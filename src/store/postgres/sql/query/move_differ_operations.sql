-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_operations_rows}}
except all
select id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped,
    changed, paced_at, actor, surface, reason, note, executor, lease_until, planned_at, expires_at, started_at, ended_at
from core.operations where true) as missing)
     + (select count(*) from core.operations where true) - cardinality($1::jsonb[])
