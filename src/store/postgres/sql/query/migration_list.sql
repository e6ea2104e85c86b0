-- The migrations that were applied.
select version, name, checksum from core.sluice_migrations order by version
