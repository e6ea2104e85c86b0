-- A page of the audit, newest first (primary key).
select id, at, actor, surface, reason, action, event_id, count, detail
from audit
where id < :before_id
  and (:actor is null or actor = :actor)
  and (:surface is null or surface = :surface)
  and (:action is null or action = :action)
  and (:action_prefix is null or substr(action, 1, length(:action_prefix)) = :action_prefix)
  and (:event_id is null or event_id = :event_id)
  and (:since is null or at >= :since)
  and (:until is null or at < :until)
order by id desc
limit :limit
