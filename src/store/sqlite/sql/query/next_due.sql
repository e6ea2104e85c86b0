-- When the first event that waits for its time falls due (outbox_due).
select min(retry_after)
from outbox
where status = 'pending' and retry_after is not null and generation = :generation and key_blocked = 0
