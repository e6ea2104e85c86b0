-- Dedup rows past their whole time, in one batch (event_handled_age).
select count(*), 0
from (select 1 from event_handled where handled_at <= :cutoff
    and not exists (select 1 from outbox where outbox.id = event_handled.event_id)
  order by handled_at limit :limit)
