-- How many rows are not stored as they were given, or were not given.
select (select count(*) from (
{{move_subscriptions_rows}}
except all
select generation, handler_name, event_types, context, channel, registered_at, declared_by, served_at
from core.subscriptions where true) as missing)
     + (select count(*) from core.subscriptions where true) - cardinality($1::jsonb[])
