-- Marks the groups with a fingerprint as known or not, audited. Index failure_groups_kind.
select core.failure_acknowledge($1::text, $2::boolean, $3::text, $4::text, $5::text)
