-- The events of one operation, by the primary key.
select json_object(
  'operation_id', operation_id, 'place', place, 'event_id', event_id, 'claim_seq', claim_seq, 'cycle', cycle, 'state', state)
from operation_items where operation_id = :slice order by place
