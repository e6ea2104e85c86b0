-- A page of the set of an operation, by place (primary key).
select place, event_id, state
from operation_items
where operation_id = :id and place > :after
order by place
limit :limit
