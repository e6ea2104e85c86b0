-- Finished events past their active time: how many of this batch, and how many of those failed. Walks
-- from generation to generation, so that outbox_finished is entered only where something is old enough.
with recursive
  kind (status) as (values ('delivered'), ('failed')),
  part (status, generation) as (
    select status, (select min(generation) from outbox
                    where outbox.status = kind.status and deleted_at is null and outbox.status in ('delivered', 'failed'))
    from kind
    union all
    select status, (select min(generation) from outbox
                    where outbox.status = part.status and generation > part.generation
                      and deleted_at is null and outbox.status in ('delivered', 'failed'))
    from part where generation is not null)
select count(*), count(*) filter (where status = 'failed')
from (select outbox.status
      from part join outbox on outbox.status = part.status and outbox.generation = part.generation
      where outbox.deleted_at is null and outbox.status in ('delivered', 'failed')
        and max(outbox.published_at, coalesce(outbox.delivered_at, ''), coalesce(outbox.failed_at, ''), coalesce(outbox.restored_at, '')) <= :cutoff
      limit :limit)
