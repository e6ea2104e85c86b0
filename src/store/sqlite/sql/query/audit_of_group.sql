-- What people said and did about a group of failures, newest first (audit_group).
select id, at, actor, surface, reason, action, event_id, count, detail
from audit
where action in ('note', 'acknowledge', 'unacknowledge') and json_extract(detail, '$.fingerprint') = :fingerprint
order by id desc
limit :limit
