-- Which of these events of generation $1 are still pending and never waited, and since when. Index outbox_scan.
select o.seq, o.published_at
from unnest($2::bigint[]) as n(seq), lateral (
    select o.seq, o.published_at from core.outbox o
    where o.generation = $1::bigint and o.seq = n.seq and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
    offset 0) o
order by o.seq
