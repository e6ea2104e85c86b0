-- Pending events that never waited, by generation: how many, at most :limit, the first and the last number among all of
-- them, and since when the oldest. Hops from generation to generation within outbox_fresh; those that wait for an
-- earlier one of their key stand apart in it.
with recursive part (generation) as (
  select min(generation) from outbox where status = 'pending' and deleted_at is null and retry_after is null
  union all
  select (select min(generation) from outbox
          where status = 'pending' and deleted_at is null and retry_after is null and generation > part.generation)
  from part where generation is not null)
select generation,
       (select count(*) from (select 1 from outbox
                              where status = 'pending' and deleted_at is null and retry_after is null and outbox.generation = part.generation
                              limit :limit)),
       (select min(seq) from outbox where status = 'pending' and deleted_at is null and retry_after is null
          and outbox.generation = part.generation and key_blocked = 0),
       (select max(seq) from outbox where status = 'pending' and deleted_at is null and retry_after is null
          and outbox.generation = part.generation and key_blocked = 0),
       (select published_at from outbox where status = 'pending' and deleted_at is null and retry_after is null
          and outbox.generation = part.generation and key_blocked = 0
        order by seq limit 1)
from part
where generation is not null
