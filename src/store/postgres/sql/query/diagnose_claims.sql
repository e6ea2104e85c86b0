-- Events in flight whose claim's time ran out and that no reaper has taken back: how many, at most $1, and since
-- when the oldest. Indexes claims_expiry and outbox_scan.
select count(*), min(e.ran_out)
from (
    select o.claimed_at + c.ttl as ran_out
    from core.claims c
    join core.outbox o on o.generation = c.generation and o.seq = any (c.seqs)
    where c.expires_at <= now() and o.status = 'in_flight' and o.claimed_by = c.worker and o.claimed_at + c.ttl <= now()
    order by c.expires_at
    limit $1::int) e
