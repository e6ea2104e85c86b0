-- Tombstones the batch that retention_count_expired counts; the same walk.
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
update outbox set deleted_at = :now
where seq in (
  select outbox.seq
  from part join outbox on outbox.status = part.status and outbox.generation = part.generation
  where outbox.deleted_at is null and outbox.status in ('delivered', 'failed')
        and max(outbox.published_at, coalesce(outbox.delivered_at, ''), coalesce(outbox.failed_at, ''), coalesce(outbox.restored_at, '')) <= :cutoff
  limit :limit)
