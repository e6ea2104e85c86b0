-- What the code relies on and somebody may have changed by hand: one sentence per finding.
select 'table core.' || name || ' is missing'
from unnest(array['outbox', 'event_handled', 'deployments', 'claims', 'claim_cursors', 'audit', 'settings', 'subscriptions',
                  'workers', 'failure_clusters', 'operations', 'operation_items', 'keys_in_flight', 'patrol', 'patrol_slices',
                  'stranded']) as name
where to_regclass('core.' || name) is null
union all
select 'index core.' || name || ' is missing or invalid'
from unnest(array['outbox_pkey', 'outbox_scan', 'outbox_waiting', 'outbox_ordering', 'outbox_waiting_keys', 'outbox_keyed',
                  'outbox_dead', 'outbox_dead_clusters', 'outbox_dead_kinds', 'outbox_age',
                  'outbox_tombstones', 'event_handled_pkey', 'claims_expiry', 'operations_running', 'operation_items_in_flight']) as name
where not exists (
    select from pg_index i where i.indexrelid = to_regclass('core.' || name) and i.indisvalid)
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
where i.indrelid = to_regclass('core.outbox')
  and (a.attnum = any (i.indkey) or pg_get_indexdef(i.indexrelid) ~ ('\m' || a.attname || '\M'))
