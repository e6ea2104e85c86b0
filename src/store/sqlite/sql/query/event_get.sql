-- One whole row (unique index on id).
select {{event_columns}}
from outbox
where id = :id
