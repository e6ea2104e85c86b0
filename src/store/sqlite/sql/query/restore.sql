-- Takes the tombstone off a failed event.
update outbox set deleted_at = null, restored_at = :now where id = :id and status = 'failed' and deleted_at is not null
