-- All sinks and the state that they are in.
select json_object(
  'name', name, 'kind', kind, 'target', target, 'handlers', json(handlers), 'state', state, 'changed_at', changed_at,
  'changed_by', changed_by, 'reason', reason, 'opened_at', opened_at, 'open_until', open_until, 'open_reason', open_reason,
  'declared_at', declared_at)
from sinks order by name
