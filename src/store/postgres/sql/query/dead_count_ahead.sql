-- How many of the next $3 events of an operation are dead letters that match. Indexes operation_items_pkey and outbox_pkey.
select count(*)
from (
    select i.event_id
    from core.operation_items i
    where i.operation_id = $2::uuid and i.state = 'waiting'
      and i.place > (select p.taken from core.operations p where p.id = $2::uuid)
    order by i.place
    limit $3::bigint) ahead
join core.outbox o on o.id = ahead.event_id
where o.failed_at is not null and o.deleted_at is null
  and o.group_id = any (array(select k.id from core.failure_groups k where core.group_matches(k, $1::jsonb)))
  and core.dead_matches(o, $1::jsonb)
