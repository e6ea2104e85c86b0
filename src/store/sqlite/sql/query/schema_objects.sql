-- The definitions of Sluice's own tables and of everything attached to them.
select type || ' ' || name, coalesce(sql, '')
from sqlite_master
where tbl_name in ('outbox', 'event_handled', 'deployments', 'settings', 'secrets', 'audit', 'subscriptions', 'workers',
                   'failure_groups', 'operations', 'operation_items', 'stranded', 'patrol', 'outbox_subscribers', 'outbox_keyed',
                   'sluice_migrations')
  and name not like 'sqlite_autoindex_%'
order by 1
