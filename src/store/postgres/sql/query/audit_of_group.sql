-- What people said and did about a group of failures, newest first. Index audit_group.
select id, at, actor, surface, reason, action, event_id, count, detail
from core.audit
where action in ('note', 'acknowledge', 'unacknowledge') and detail ->> 'fingerprint' = $1::text
order by id desc
limit $2::int
