-- The version of the registry of subscriptions, which database that is (a table that is created anew has another number),
-- and the switch of the relay.
select s.value::bigint, s.tableoid::bigint, coalesce((select r.value from core.settings r where r.key = 'relay'), 'off')
from core.settings s where s.key = 'subscriptions_version'
