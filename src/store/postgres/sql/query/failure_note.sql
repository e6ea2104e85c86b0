-- Adds a note to the groups with a fingerprint. Index failure_groups_kind.
select core.failure_note($1::text, $2::text, $3::text, $4::text)
