-- Tombstones a failed event.
update outbox set deleted_at = :now where id = :id and status = 'failed' and deleted_at is null
