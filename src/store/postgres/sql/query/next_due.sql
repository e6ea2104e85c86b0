-- When the next waiting event falls due. Index outbox_due.
select retry_after
from core.outbox
where generation = $1::bigint and retry_after is not null and status = 'pending' and deleted_at is null
order by retry_after
limit 1
