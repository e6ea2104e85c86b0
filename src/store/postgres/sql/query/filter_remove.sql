-- Removes a filter by its name, audited.
select core.filter_remove($1::text, $2::text, $3::text, $4::text)
