-- The events that are pending and never waited, at most $1. Reads the table.
select o.generation, o.seq
from core.outbox o
where o.status = 'pending' and o.retry_after is null and o.deleted_at is null
limit $1::int
