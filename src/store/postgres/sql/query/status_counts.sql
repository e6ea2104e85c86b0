-- Counts by generation and state, tombstones apart.
select generation, status, deleted_at is not null as discarded, count(*),
       count(*) filter (where retry_after > now()) as waiting, min(occurred_at) as oldest
from core.outbox
group by 1, 2, 3
order by 1, 2
