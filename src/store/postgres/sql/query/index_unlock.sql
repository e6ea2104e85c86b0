-- Ends what index_lock began.
select pg_advisory_unlock(hashtextextended('sluice.index', 0))
