-- Tombstones past their grace: how many of this batch, and how many of those failed (outbox_tombstones).
select count(*), count(*) filter (where status = 'failed')
from (select status from outbox where deleted_at is not null and deleted_at <= :cutoff
      order by deleted_at limit :limit)
