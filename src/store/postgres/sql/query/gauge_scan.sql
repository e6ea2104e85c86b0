-- The next $4 events of generation $1 above $2 (and up to $3): how many, the highest number, how many of them are pending
-- and never waited, since when the oldest; then the numbers of the first $5 of those. Index outbox_scan.
with looked as materialized (
    select o.seq, o.published_at, o.status = 'pending' and o.retry_after is null and o.deleted_at is null as pending
    from core.outbox o
    where o.generation = $1::bigint and o.seq > $2::bigint and o.seq <= coalesce($3::bigint, 9223372036854775807)
    order by o.seq
    limit $4::int)
select count(*), coalesce(max(l.seq), 0), count(*) filter (where l.pending), min(l.published_at) filter (where l.pending)
from looked l
union all
(select null, l.seq, null, null from looked l where l.pending order by l.seq limit $5::int)
