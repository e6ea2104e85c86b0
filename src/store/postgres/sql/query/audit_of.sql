-- What was done to one event. Index audit_event.
select id, at, actor, surface, reason, action, event_id, count, detail
from core.audit
where event_id = $1::uuid
order by id
