-- Notes a migration as applied.
insert into core.sluice_migrations (version, name, checksum) values ($1::int, $2::text, md5($3::text))
