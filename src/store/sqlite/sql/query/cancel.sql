-- Tombstones a pending event; the triggers let its ordering key go on.
update outbox set deleted_at = :now where id = :id and status = 'pending' and deleted_at is null
