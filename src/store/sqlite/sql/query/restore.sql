-- Takes the tombstone off a failed event, or off a pending one that was cancelled: due when it was, at once when that has
-- passed.
update outbox
set deleted_at = null, restored_at = :now,
    retry_after = iif(status = 'pending', max(coalesce(retry_after, :now), :now), retry_after)
where id = :id and status in ('failed', 'pending') and deleted_at is not null
