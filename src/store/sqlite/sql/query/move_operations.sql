-- All operations.
select json_object(
  'id', id, 'kind', kind, 'state', state, 'filter', filter, 'to_generation', to_generation, 'rate', rate, 'canary', canary,
  'stop_percent', stop_percent, 'total', total, 'taken', taken, 'delivered', delivered, 'failed_again', failed_again,
  'skipped', skipped, 'changed', changed, 'paced_at', paced_at, 'actor', actor, 'surface', surface, 'reason', reason,
  'note', note, 'executor', executor, 'lease_until', lease_until, 'planned_at', planned_at, 'expires_at', expires_at,
  'started_at', started_at, 'ended_at', ended_at)
from operations order by id
