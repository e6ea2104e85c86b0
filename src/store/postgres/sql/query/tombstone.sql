-- Discards a failed event, or restores a failed or a cancelled one. Index outbox_pkey.
select core.outbox_tombstone($1::uuid, $2::boolean, $3::text, $4::text, $5::text)
