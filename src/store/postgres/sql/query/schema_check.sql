-- What the code relies on and somebody may have changed by hand: one sentence per finding.
select 'table core.' || name || ' is missing'
from unnest(array['outbox', 'event_handled', 'deployments', 'claims', 'claim_cursors', 'audit', 'settings', 'secrets', 'subscriptions',
                  'workers', 'failure_groups', 'operations', 'operation_items', 'keys_in_flight', 'claim_heads', 'patrol', 'patrol_slices',
                  'stranded', 'sinks', 'audited', 'attempts',
                  'delivery_history', 'saved_filters']) as name
where to_regclass('core.' || name) is null
union all
select 'index core.' || name || ' is missing or invalid'
from unnest(array['outbox_scan', 'outbox_waiting', 'outbox_ordering', 'outbox_waiting_keys', 'outbox_keyed',
                  'outbox_dead', 'outbox_dead_groups', 'outbox_dead_kinds', 'outbox_age',
                  'outbox_tombstones', 'event_handled_pkey', 'claims_expiry', 'operations_running', 'operation_items_in_flight', 'attempts_pkey', 'attempts_age']) as name
where not exists (
    select from pg_index i where i.indexrelid = to_regclass('core.' || name) and i.indisvalid)
union all
-- Optional: what somebody has begun to make and not finished costs every publish and serves nobody.
select 'index core.outbox_' || name || ' is not finished: run `sluice db index ' || name || '` again, or with --drop'
from unnest(array['payload', 'trace']) as name
where exists (select from pg_index i where i.indexrelid = to_regclass('core.outbox_' || name) and not i.indisvalid)
union all
-- The table, or each of its partitions.
select 'index core.' || case when c.relispartition then c.relname || '_pkey' else 'outbox_pkey' end || ' is missing or invalid'
from pg_class c
where (c.oid = to_regclass('core.outbox') and c.relkind = 'r'
       or c.oid in (select h.inhrelid from pg_inherits h where h.inhparent = to_regclass('core.outbox')))
  and not exists (
    select from pg_index i where i.indrelid = c.oid and i.indisprimary and i.indisvalid and pg_get_indexdef(i.indexrelid) ~ ' \(id\)$')
union all
select 'core.outbox is partitioned without a default partition, so an event of a month that has none is refused: '
    || 'run `select core.partition_prepare(''outbox_default''); alter table core.outbox attach partition core.outbox_default default`'
from pg_class c
where c.oid = to_regclass('core.outbox') and c.relkind = 'p'
  and not exists (select from pg_partitioned_table p where p.partrelid = c.oid and p.partdefid <> 0)
union all
select 'trigger outbox_once on core.outbox is missing or disabled'
from pg_class c
where c.oid = to_regclass('core.outbox') and c.relkind = 'p'
  and not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'outbox_once' and t.tgenabled in ('O', 'A'))
union all
select 'trigger ' || name || ' on core.' || relation || ' is missing or disabled'
from (values ('outbox_notify', 'outbox'), ('outbox_default_key', 'outbox'), ('outbox_refuse_insert', 'outbox'),
             ('outbox_guard', 'outbox'), ('outbox_guard_delete', 'outbox'), ('audit_refuse', 'audit')) as expected(name, relation)
where not exists (
    select from pg_trigger t
    where t.tgrelid = to_regclass('core.' || relation) and t.tgname = name and t.tgenabled in ('O', 'A'))
union all
select 'index ' || i.indexrelid::regclass::text || ' mentions a column that every delivery changes: updates are no longer HOT'
from pg_index i
join pg_attribute a on a.attrelid = i.indrelid and a.attname in ('status', 'claimed_at', 'claimed_by', 'claim_seq', 'delivered_at')
where (i.indrelid = to_regclass('core.outbox') or i.indrelid in (select h.inhrelid from pg_inherits h where h.inhparent = to_regclass('core.outbox')))
  and (a.attnum = any (i.indkey) or pg_get_indexdef(i.indexrelid) ~ ('\m' || a.attname || '\M'))
union all
-- The claim scan passes a number once every transaction that could have drawn a smaller one has ended.
select 'sequence core.outbox_seq is missing'
where to_regclass('core.outbox_seq') is null
union all
select 'sequence core.outbox_seq hands out ' || q.seqcache || ' numbers to a session at once, so smaller ones turn up late and are passed over: '
    || 'run `alter sequence core.outbox_seq cache 1`'
from pg_sequence q where q.seqrelid = to_regclass('core.outbox_seq') and q.seqcache <> 1
union all
select 'sequence core.outbox_seq goes in steps of ' || q.seqincrement || ' instead of 1: run `alter sequence core.outbox_seq increment 1`'
from pg_sequence q where q.seqrelid = to_regclass('core.outbox_seq') and q.seqincrement <> 1
union all
select 'sequence core.outbox_seq starts again from its beginning after its end: run `alter sequence core.outbox_seq no cycle`'
from pg_sequence q where q.seqrelid = to_regclass('core.outbox_seq') and q.seqcycle
union all
select 'the default of core.outbox.seq does not assign the id of the transaction before it draws from core.outbox_seq: run `alter table core.outbox '
    || 'alter column seq set default case when pg_current_xact_id() is not null then nextval(''core.outbox_seq'') end`'
from pg_attribute a
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where a.attrelid = to_regclass('core.outbox') and a.attname = 'seq'
  and coalesce(pg_get_expr(d.adbin, d.adrelid), '')
      !~ '^\s*CASE\s+WHEN \(pg_current_xact_id\(\) IS NOT NULL\) THEN nextval\(''(core\.)?outbox_seq''::regclass\)\s+ELSE NULL::bigint\s+END\s*$'
