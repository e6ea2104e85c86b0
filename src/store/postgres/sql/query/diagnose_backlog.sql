-- Pending events that could be claimed now, and when the one that waits for longest fell due. Reads the table.
select count(*), min(coalesce(o.retry_after, o.published_at)), now()
from core.outbox o
where o.status = 'pending' and o.deleted_at is null and (o.retry_after is null or o.retry_after <= now())
