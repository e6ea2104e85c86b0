-- Failed events that are tombstoned (outbox_tombstones).
select count(*) from outbox where deleted_at is not null and status = 'failed'
