-- The size of core.outbox, or of its partitions, and what vacuum has left to do there. No row without the table.
select sum(t.n_live_tup)::bigint, sum(t.n_dead_tup)::bigint, sum(pg_total_relation_size(t.relid))::bigint,
       max(greatest(t.last_vacuum, t.last_autovacuum)),
       (select c.relkind = 'p' from pg_class c where c.oid = to_regclass('core.outbox'))
from pg_stat_user_tables t
where t.relid = to_regclass('core.outbox') or t.relid in (select p.relid from pg_partition_tree(to_regclass('core.outbox')) p)
having count(*) > 0
