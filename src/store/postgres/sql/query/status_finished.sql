-- Finished events (delivered, failed, discarded or cancelled) by generation in a sample of the pages, and which part of all it is, in
-- billionths: everything while the table has no more than $1 pages, else about $2 pages, the same ones each time, so that
-- figures do not flicker. There is always a row.
with part as materialized (
    select case when p.pages <= $1::int then 100.0 else 100.0 * $2::int / p.pages end as percent
    from (
        select sum(pg_relation_size(c.oid)) / current_setting('block_size')::int as pages
        from pg_class c
        where c.oid = 'core.outbox'::regclass or c.oid in (select t.relid from pg_partition_tree('core.outbox') t)) p),
seen as (
    select o.generation, count(*) filter (where o.status = 'delivered' and o.deleted_at is null) as delivered,
           count(*) filter (where o.status = 'failed' and o.deleted_at is null) as failed,
           count(*) filter (where o.status in ('failed', 'pending') and o.deleted_at is not null) as discarded
    from core.outbox o tablesample system ((select p.percent from part p)) repeatable (1)
    group by 1)
select (p.percent * 10000000)::bigint, s.generation, s.delivered, s.failed, s.discarded
from part p left join seen s on true
