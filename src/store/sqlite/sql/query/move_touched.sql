-- What `sluice move` has to copy again: the slices that were written to since, and the tables that are copied as a whole, in the
-- order of move_slices.
select name, slice
from (
  select 1 as place, 'settings' as name, '' as slice
  union all select 2, 'deployments', ''
  union all select 3, 'subscriptions', ''
  union all select 4, 'sinks', ''
  union all select 5, name, slice from move_touched where name = 'outbox' and at > :since
  union all select 6, name, slice from move_touched where name = 'event_handled' and at > :since
  union all select 7, 'operations', ''
  union all select 8, 'operation_items', id from operations
  union all select 9, name, slice from move_touched where name = 'audit' and at > :since
  union all select 10, 'stranded', ''
  union all select 11, 'ladder_samples', ''
  union all select 12, name, slice from move_touched where name = 'attempts' and at > :since
  union all select 13, 'saved_filters', ''
  union all select 14, 'failure_groups', '')
order by place, slice
