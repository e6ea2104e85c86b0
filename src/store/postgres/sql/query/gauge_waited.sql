-- Events of generation $1 that waited or wait: how many are due, since when the oldest, and how many are not, among the first
-- $2. Index outbox_waiting alone: what is in it is pending.
select count(*) filter (where w.retry_after <= now()), min(w.retry_after) filter (where w.retry_after <= now()),
       count(*) filter (where w.retry_after > now())
from (
    select o.retry_after from core.outbox o where o.generation = $1::bigint and o.retry_after is not null limit $2::int) w
