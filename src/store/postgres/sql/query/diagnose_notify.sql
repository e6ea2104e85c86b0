-- How full the NOTIFY queue is, in millionths, and how many commits wait for its lock: the one on "database 0".
select (pg_notification_queue_usage() * 1000000)::bigint,
       (select count(*) from pg_locks l
        where l.locktype = 'object' and l.database = 0 and l.classid = 'pg_database'::regclass and l.objid = 0 and not l.granted)
