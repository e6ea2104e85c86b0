-- The event that the one with ordering key $1, number $2 and id $3 has to wait for; null when none. See core.outbox_blocker.
select core.outbox_blocker($1::text, $2::bigint, $3::uuid)
