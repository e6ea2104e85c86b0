-- 1936487785 is the first key of `bell`, as in doorbell_when_idle.sql: publishers that cannot share it notify.
select pg_try_advisory_lock(1936487785, hashtext($1::text))
