-- The oldest finished event and the oldest tombstone. Walks from generation to generation, so that
-- outbox_finished is entered once for each; outbox_tombstones has the rest.
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
select min((select min(max(published_at, coalesce(delivered_at, ''), coalesce(failed_at, ''), coalesce(restored_at, ''))) from outbox
            where outbox.status = part.status and outbox.generation = part.generation
              and deleted_at is null and outbox.status in ('delivered', 'failed'))),
       (select min(deleted_at) from outbox where deleted_at is not null)
from part
