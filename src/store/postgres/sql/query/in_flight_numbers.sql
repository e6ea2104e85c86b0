-- The numbers of the events in flight, and of some that no longer are. core.claims has a row per batch at work.
select distinct c.generation, n.seq
from core.claims c cross join unnest(c.seqs) as n(seq)
