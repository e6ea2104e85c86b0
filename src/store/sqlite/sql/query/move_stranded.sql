-- What the patrol has healed.
select json_object(
  'at', at, 'event_id', event_id, 'event_type', event_type, 'generation', generation, 'cause', cause)
from stranded order by id
