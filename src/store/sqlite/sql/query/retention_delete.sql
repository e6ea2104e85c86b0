-- Deletes the batch that retention_count_deletable counts.
delete from outbox
where seq in (select seq from outbox where deleted_at is not null and deleted_at <= :cutoff
              order by deleted_at limit :limit)
