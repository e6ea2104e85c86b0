-- Waits for `awake` exclusively: the last one to fall asleep gets it.
select pg_advisory_lock(1936487786, hashtext($1::text))::text
