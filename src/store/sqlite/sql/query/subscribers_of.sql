-- The handlers that subscribe to an event in its generation, since when, and when each has handled it.
select s.handler_name, s.registered_at, h.handled_at
from outbox as o
join outbox_subscribers as wants on wants.seq = o.seq
join subscriptions as s on s.generation = o.generation and s.handler_name = wants.handler_name
left join event_handled as h on h.idempotency_key = o.idempotency_key and h.handler_name = s.handler_name
where o.id = :id
order by s.handler_name
