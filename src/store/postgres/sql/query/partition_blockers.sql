-- Who holds a lock on core.outbox or a partition of it, the oldest transaction first.
select coalesce(a.pid, 0), coalesce(a.application_name, ''), coalesce(a.usename::text, ''), coalesce(a.state, ''),
       (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint, left(coalesce(a.query, ''), 120)
from (select distinct l.pid from pg_locks l
      where l.locktype = 'relation' and l.granted and l.pid <> pg_backend_pid()
        and l.relation in (select to_regclass('core.outbox') union all select p.leaf from core.partitions() p)
        and l.database = (select d.oid from pg_database d where d.datname = current_database())) l
left join pg_stat_activity a on a.pid = l.pid
order by a.xact_start nulls last
limit 5
