-- A page of the set of an operation. Index operation_items_pkey.
select place, event_id, state
from core.operation_items
where operation_id = $1::uuid and place > $3::bigint
order by place
limit $2::int
