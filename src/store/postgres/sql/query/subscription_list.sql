-- The subscriptions of one generation, or of all; the event types as JSON.
select generation, handler_name, array_to_json(event_types)::text, context, channel, registered_at, declared_by, served_at
from core.subscriptions
where $1::bigint is null or generation = $1::bigint
order by generation, handler_name
