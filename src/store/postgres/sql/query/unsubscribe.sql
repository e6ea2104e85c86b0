-- Removes one subscription, audited.
select core.unsubscribe($1::bigint, $2::text, $3::text, $4::text, $5::text)
