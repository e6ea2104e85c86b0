-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_operation_items_rows}}
except all
select operation_id, place, event_id, claim_seq, cycle, state
from core.operation_items where operation_id = $2::text::uuid) as missing)
     + (select count(*) from core.operation_items where operation_id = $2::text::uuid) - cardinality($1::jsonb[])
