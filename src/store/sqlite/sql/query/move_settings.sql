-- The settings that mean the same in every store; the version of the subscriptions is the new store's own.
select json_object(
  'key', key, 'value', value)
from settings where key = 'failure_history_max'
