-- Sessions whose lock on core.outbox keeps others from writing, the oldest transaction first, and how many wait
-- for any lock on it.
select coalesce(a.pid, 0), coalesce(a.application_name, ''), coalesce(a.usename::text, ''), coalesce(a.state, ''),
       (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint, left(coalesce(a.query, ''), 120),
       (select count(*) from pg_locks w
        where w.locktype = 'relation' and w.relation = l.relation and w.database = l.database and not w.granted)
from pg_locks l
left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'relation' and l.relation = to_regclass('core.outbox') and l.granted
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
  and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
order by a.xact_start nulls last
limit 5
