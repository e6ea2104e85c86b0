-- Pending events that could be claimed now, and when the one that waits for longest fell due (outbox_fresh,
-- outbox_due).
select coalesce(sum(events), 0), min(oldest)
from (
  select count(*) as events, min(published_at) as oldest
  from outbox where status = 'pending' and deleted_at is null and retry_after is null
  union all
  select count(*), min(retry_after)
  from outbox where status = 'pending' and deleted_at is null and retry_after is not null and retry_after <= :now)
