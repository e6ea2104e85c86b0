-- The time, and the id that the next transaction gets: whoever has inserted by now is below.
select now(), pg_snapshot_xmax(pg_current_snapshot())::text::bigint
