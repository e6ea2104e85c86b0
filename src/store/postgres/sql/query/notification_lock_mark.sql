-- "This process works": 1936487786 is the first key of `awake`, the second one is the channel's.
select pg_try_advisory_lock_shared(1936487786, hashtext($1::text))
