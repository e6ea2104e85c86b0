-- Pending events that waited or wait, by generation: how many are due, since when the oldest, and how many are not, each
-- at most :limit. Hops from generation to generation within outbox_due.
with recursive part (generation) as (
  select min(generation) from outbox where status = 'pending' and deleted_at is null and retry_after is not null
  union all
  select (select min(generation) from outbox
          where status = 'pending' and deleted_at is null and retry_after is not null and generation > part.generation)
  from part where generation is not null)
select generation,
       (select count(*) from (select 1 from outbox
                              where status = 'pending' and deleted_at is null and retry_after is not null and outbox.generation = part.generation
                                and key_blocked in (0, 1) and retry_after <= :now
                              limit :limit)),
       (select retry_after from outbox
        where status = 'pending' and deleted_at is null and retry_after is not null and outbox.generation = part.generation
          and key_blocked = 0 and retry_after <= :now
        order by retry_after limit 1),
       (select count(*) from (select 1 from outbox
                              where status = 'pending' and deleted_at is null and retry_after is not null and outbox.generation = part.generation
                                and key_blocked in (0, 1) and retry_after > :now
                              limit :limit))
from part
where generation is not null
