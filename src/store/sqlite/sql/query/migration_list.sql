-- What has been applied, in order.
select version, name, checksum from sluice_migrations order by version
