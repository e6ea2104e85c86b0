-- Which of these events of generation $1 are still pending and never waited, and since when. Index outbox_scan.
select o.seq, o.published_at
from core.outbox o
where o.generation = $1::bigint and o.seq = any ($2::bigint[])
  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
order by o.seq
