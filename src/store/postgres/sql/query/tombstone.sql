-- Discards or restores a failed event. Index outbox_pkey.
select core.outbox_tombstone($1::uuid, $2::boolean, $3::text, $4::text, $5::text)
