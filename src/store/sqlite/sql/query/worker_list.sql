-- The worker processes seen lately.
select identity, generation, handlers, listener, started_at, seen_at
from workers
where seen_at > :since
order by identity
