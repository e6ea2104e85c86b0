-- Dead letters by generation, counted no further than $1 in all. Index outbox_dead_kinds alone.
select d.generation, count(*)
from (select o.generation from core.outbox o where o.failed_at is not null and o.deleted_at is null limit $1::int) d
group by 1
