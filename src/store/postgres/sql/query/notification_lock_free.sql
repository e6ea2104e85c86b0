-- Gives back whatever this session holds.
select pg_advisory_unlock_all()::text
