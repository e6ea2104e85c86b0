-- The worker processes seen lately; the handlers as JSON.
select identity, generation, array_to_json(handlers)::text, listener, started_at, seen_at
from core.workers
where seen_at > now() - $1::interval
order by identity
