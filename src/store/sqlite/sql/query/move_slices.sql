-- What `sluice move` copies, table by table, in slices that stay where they are: numbers, minutes or the whole table. The
-- groups of failures come last, because a dead letter that arrives touches its group.
select name, slice
from (
  select 1 as place, 'settings' as name, '' as slice
  union all select 2, 'deployments', ''
  union all select 3, 'subscriptions', ''
  union all select 4, 'sinks', ''
  union all select 5, 'outbox', printf('%015d', (seq - 1) / 2000) from outbox group by (seq - 1) / 2000
  union all select 6, 'event_handled', substr(handled_at, 1, 16) from event_handled group by substr(handled_at, 1, 16)
  union all select 7, 'operations', ''
  union all select 8, 'operation_items', id from operations
  union all select 9, 'audit', printf('%015d', (id - 1) / 2000) from audit group by (id - 1) / 2000
  union all select 10, 'stranded', ''
  union all select 11, 'ladder_samples', ''
  union all select 12, 'attempts', substr(recorded_at, 1, 16) from attempts group by substr(recorded_at, 1, 16)
  union all select 13, 'saved_filters', ''
  union all select 14, 'failure_groups', '')
order by place, slice
