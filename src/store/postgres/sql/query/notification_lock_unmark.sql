-- "This process has nothing to do": gives `awake` back.
select pg_advisory_unlock_shared(1936487786, hashtext($1::text))
