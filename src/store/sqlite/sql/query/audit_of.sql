-- The audit of one event, oldest first (audit_event).
select id, at, actor, surface, reason, action, event_id, count, detail
from audit
where event_id = :event_id
order by id
