-- What is left to do so that the search index $1 with the definition $2 is there, or is gone ($3), in order. An index that a kill
-- left invalid is dropped and made again. A partitioned table gets its index empty (ONLY), then one partition after the other;
-- months that are made later take it over from it. `locks`: it needs the table for a moment.
with outbox as (
    select c.oid, c.relkind = 'p' as partitioned,
           (select i.indexrelid from pg_index i where i.indexrelid = to_regclass('core.outbox_' || $1::text) and i.indrelid = c.oid) as index,
           (select i.indisvalid from pg_index i where i.indexrelid = to_regclass('core.outbox_' || $1::text) and i.indrelid = c.oid) as valid
    from pg_class c where c.oid = to_regclass('core.outbox')),
leaves as (
    select p.name, p.place, x.relname, coalesce(x.indisvalid, false) as valid, coalesce(x.attached, false) as attached
    from core.partitions() with ordinality as p(leaf, name, since, until, is_default, rows, bytes, note, place)
    left join lateral (
        select n.relname, i.indisvalid, h.inhrelid is not null as attached
        from outbox o
        join pg_index i on i.indrelid = p.leaf
        join pg_class n on n.oid = i.indexrelid
        left join pg_inherits h on h.inhrelid = i.indexrelid and h.inhparent = o.index
        where h.inhrelid is not null or n.relname = p.name || '_' || $1::text
        order by h.inhrelid is null
        limit 1) x on true),
broken as (
    -- The index of a partition goes with that of the table, not alone.
    select exists (select from leaves l where l.attached and not l.valid) as parent)
select s.sql, s.locks
from (
    select 1 as step, 0::bigint as place, format('drop index concurrently core.%I', 'outbox_' || $1::text) as sql, false as locks
    from outbox o where not o.partitioned and o.index is not null and ($3::boolean or not o.valid)
    union all
    select 2, 0, format('create index concurrently %I on core.outbox %s', 'outbox_' || $1::text, $2::text), false
    from outbox o where not o.partitioned and not $3::boolean and o.valid is not true
    union all
    select 3, 0, format('drop index core.%I', 'outbox_' || $1::text), true
    from outbox o cross join broken b where o.partitioned and o.index is not null and ($3::boolean or b.parent)
    union all
    select 4, 0, format('create index %I on only core.outbox %s', 'outbox_' || $1::text, $2::text), true
    from outbox o cross join broken b where o.partitioned and not $3::boolean and (o.index is null or b.parent)
    union all
    select 5, l.place * 3, format('drop index concurrently core.%I', l.relname), false
    from leaves l where l.relname is not null and not l.attached and ($3::boolean or not l.valid)
    union all
    select 5, l.place * 3 + 1, format('create index concurrently %I on core.%I %s', l.name || '_' || $1::text, l.name, $2::text), false
    from leaves l where not $3::boolean and not l.valid
    union all
    select 5, l.place * 3 + 2, format('alter index core.%I attach partition core.%I', 'outbox_' || $1::text, l.name || '_' || $1::text), true
    from leaves l cross join broken b where not $3::boolean and (not l.attached or b.parent)) s
order by s.step, s.place
