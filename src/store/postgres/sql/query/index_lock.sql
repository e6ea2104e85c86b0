-- One `sluice db index` at a time, for the session: a build cannot run in a transaction.
select pg_try_advisory_lock(hashtextextended('sluice.index', 0))
