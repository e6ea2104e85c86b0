-- What keeps vacuum and pruning from removing old row versions in this database, the oldest first: sessions,
-- prepared transactions, replication slots. Vacuum itself is left out: nobody waits for its snapshot.
select h.kind, h.pid, h.application, h.usename, h.state, h.age, h.query, h.name, h.transactions
from (
    select 'session' as kind, a.pid, coalesce(a.application_name, '') as application, coalesce(a.usename::text, '') as usename,
           coalesce(a.state, a.backend_type, '') as state,
           (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint as age,
           left(coalesce(a.query, ''), 120) as query, '' as name, age(coalesce(a.backend_xmin, a.backend_xid))::bigint as transactions
    from pg_stat_activity a
    where (a.backend_xmin is not null or a.backend_xid is not null) and a.pid <> pg_backend_pid()
      and (a.datname = current_database() or a.datname is null) and a.backend_type <> 'autovacuum worker'
    union all
    select 'prepared', 0, '', p.owner::text, 'prepared', (extract(epoch from clock_timestamp() - p.prepared) * 1000000)::bigint,
           '', p.gid, age(p.transaction)::bigint
    from pg_prepared_xacts p
    where p.database = current_database()
    union all
    select 'slot', coalesce(s.active_pid, 0), '', '', case when s.active then 'active' else 'inactive' end, null, '',
           s.slot_name::text, age(s.xmin)::bigint
    from pg_replication_slots s
    where s.xmin is not null) h
order by h.transactions desc, h.age desc nulls last
limit 5
