-- Whether there is a schema of ours at all. Reads the catalogue itself: to_regclass may answer from a
-- cache that is older than the lock which the migrator has just waited for.
select exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'core' and c.relname = 'sluice_migrations')
