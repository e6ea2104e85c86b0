-- The time, and the id that the next transaction gets: whoever has inserted by now is below. The snapshot's own upper
-- end is not it: a transaction that runs may have an id above all that have ended.
select now(), pg_snapshot_xmax(s.snapshot)::text::bigint + age(pg_snapshot_xmax(s.snapshot)::xid)
from pg_current_snapshot() as s(snapshot)
