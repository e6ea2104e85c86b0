-- 2,000 records, by the primary key.
select json_object(
  'id', id, 'at', at, 'actor', actor, 'surface', surface, 'action', action, 'event_id', event_id, 'count', count,
  'reason', reason, 'detail', detail)
from audit
where id > :slice * 2000 and id <= (:slice + 1) * 2000
order by id
