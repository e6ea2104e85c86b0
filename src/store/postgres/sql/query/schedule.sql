-- A pending event is due at $2, null: at once. Index outbox_pkey.
select core.outbox_schedule($1::uuid, $2::timestamptz, $3::text, $4::text, $5::text)
