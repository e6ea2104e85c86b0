-- Events in flight by generation. Index outbox_scan, by way of core.claims, which has a row per batch at work.
select o.generation, count(distinct o.seq)
from core.claims c
join core.outbox o on o.generation = c.generation and o.seq = any (c.seqs)
where o.status = 'in_flight' and o.claimed_by = c.worker
group by 1
