-- Counts by generation and state, each branch from one index: outbox_fresh, outbox_due, outbox_claims,
-- outbox_finished.
select generation, status, sum(events), sum(waiting), min(oldest)
from (
  select generation, 'pending' as status, count(*) as events, 0 as waiting, min(occurred_at) as oldest
  from outbox where status = 'pending' and deleted_at is null and retry_after is null
  group by generation
  union all
  select generation, 'pending', count(*), count(*) filter (where retry_after > :now), min(occurred_at)
  from outbox where status = 'pending' and deleted_at is null and retry_after is not null
  group by generation
  union all
  select generation, 'in_flight', count(*), 0, min(occurred_at)
  from outbox where status = 'in_flight'
  group by generation
  union all
  select generation, status, count(*), 0, null
  from outbox where deleted_at is null and status in ('delivered', 'failed')
  group by status, generation)
group by generation, status
order by generation, status
