-- Has this file ever been migrated?
select count(*) from sqlite_master where type = 'table' and name = 'sluice_migrations'
