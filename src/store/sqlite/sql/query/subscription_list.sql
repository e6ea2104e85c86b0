-- The subscriptions of one generation, or of all.
select generation, handler_name, event_types, context, channel, registered_at, declared_by, served_at
from subscriptions
where :generation is null or generation = :generation
order by generation, handler_name
