-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_audit_rows}}
except all
select id, at, actor, surface, action, event_id, count, reason, detail
from core.audit where id > $2::bigint * 2000 and id <= ($2::bigint + 1) * 2000 and action <> 'move') as missing)
     + (select count(*) from core.audit where id > $2::bigint * 2000 and id <= ($2::bigint + 1) * 2000 and action <> 'move') - cardinality($1::jsonb[])
