-- A slice was brought and compared.
insert into core.move_slices (table_name, slice, digest, rows) values ($1::text, $2::text, $3::text, $4::bigint)
on conflict (table_name, slice) do update set digest = excluded.digest, rows = excluded.rows
