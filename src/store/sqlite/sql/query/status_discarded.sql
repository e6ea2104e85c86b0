-- Events that were discarded or cancelled (outbox_tombstones).
select count(*) from outbox where deleted_at is not null and status in ('failed', 'pending')
