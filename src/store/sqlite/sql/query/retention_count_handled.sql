-- Dedup rows past their whole time, in one batch (event_handled_age).
select count(*), 0
from (select 1 from event_handled where handled_at <= :cutoff order by handled_at limit :limit)
