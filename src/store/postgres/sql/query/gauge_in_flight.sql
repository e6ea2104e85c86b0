-- Events in flight by generation. Index outbox_scan, once per number in core.claims, which has a row per batch at work: as a
-- plain join a planner that takes the claims for many would read the table.
select c.generation, count(*)
from (select distinct c.generation, c.worker, n.seq from core.claims c cross join unnest(c.seqs) as n(seq)) c
cross join lateral (
    select from core.outbox o
    where o.generation = c.generation and o.seq = c.seq and o.status = 'in_flight' and o.claimed_by = c.worker
    limit 1) o
group by 1
