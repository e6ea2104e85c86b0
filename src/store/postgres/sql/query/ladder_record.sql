-- Adds to the row of this hour; see core.ladder_record. The primary key finds it.
select core.ladder_record($1::bigint, $2::bigint[], $3::text::float8, $4::bigint, $5::bigint, $6::interval)
