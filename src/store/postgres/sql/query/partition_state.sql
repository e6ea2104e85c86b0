-- Whether core.outbox is partitioned; the month that an unfinished `sluice ladder partition` has chosen, and whether all rows
-- were found to lie before it; whether the tables that it needs are there.
select core.outbox_partitioned(), core.partition_boundary(),
       coalesce((select c.convalidated from pg_constraint c where c.conrelid = to_regclass('core.outbox') and c.conname = 'outbox_month'), false),
       to_regclass('core.outbox_default') is not null
