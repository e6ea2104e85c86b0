-- Tombstones a pending event and lets its ordering key go on. Index outbox_pkey.
select core.outbox_cancel($1::uuid, $2::text, $3::text, $4::text)
