-- Which handlers have handled these keys. Few handlers exist, so each is looked up by the primary key.
with recursive handler as (
    (select handler_name from core.event_handled order by handler_name limit 1)
    union all
    select (select e.handler_name from core.event_handled e where e.handler_name > h.handler_name order by e.handler_name limit 1)
    from handler h
    where h.handler_name is not null
)
select e.handler_name, e.idempotency_key, e.handled_at
from handler h
join core.event_handled e on e.handler_name = h.handler_name and e.idempotency_key = any ($1::text[])
order by e.idempotency_key, e.handled_at
