-- Events that were discarded or cancelled among the first $1 tombstones, and how many tombstones these are. Index outbox_tombstones.
select count(*) filter (where t.status in ('failed', 'pending')), count(*)
from (select o.status from core.outbox o where o.deleted_at is not null limit $1::int) t
