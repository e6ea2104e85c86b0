-- One migrator at a time; the others wait and then find the work done.
begin;
select pg_advisory_xact_lock(hashtextextended('sluice.migrate', 0));
