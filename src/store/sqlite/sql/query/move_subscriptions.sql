-- All subscriptions.
select json_object(
  'generation', generation, 'handler_name', handler_name, 'event_types', json(event_types), 'context', context,
  'channel', channel, 'registered_at', registered_at, 'declared_by', declared_by, 'served_at', served_at)
from subscriptions order by generation, handler_name
