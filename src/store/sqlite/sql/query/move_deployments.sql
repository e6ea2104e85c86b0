-- All generations.
select json_object(
  'generation', generation, 'state', state, 'note', note, 'changed_by', changed_by, 'allocated_at', allocated_at,
  'activated_at', activated_at, 'draining_at', draining_at, 'retired_at', retired_at)
from deployments order by generation
