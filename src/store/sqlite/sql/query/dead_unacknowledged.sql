-- How many dead letters nobody has acknowledged, up to a limit (outbox_dead_group, group by group).
select count(*)
from (
  select 1
  from failure_groups as kind
  cross join outbox indexed by outbox_dead_group
    on outbox.group_id = kind.id and outbox.failed_at is not null and outbox.deleted_at is null
   and outbox.failed_at > coalesce(kind.acknowledged_at, '')
  limit :limit)
