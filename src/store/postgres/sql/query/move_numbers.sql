-- New events and records get numbers above all that were brought, and above those that the other store may have given to
-- events that retention has deleted since.
select setval('core.outbox_seq', greatest((select max(s.slice::bigint + 1) * 2000 from core.move_slices s where s.table_name = 'outbox'), 1)),
       setval(pg_get_serial_sequence('core.audit', 'id'), greatest((select max(a.id) from core.audit a), 1))
