-- Events in flight whose claim's time ran out and that no reaper has taken back: how many, at most $1, and since
-- when the oldest. Indexes claims_expiry and outbox_scan: the claims come first, and each number is looked up. As one join it
-- would read the whole table whenever statistics are old.
with expired as materialized (
    select c.generation, c.worker, c.ttl, c.expires_at, c.seqs
    from core.claims c
    where c.expires_at <= now())
select count(*), min(e.ran_out)
from (
    select o.claimed_at + c.ttl as ran_out
    from expired c
    cross join lateral unnest(c.seqs) as n(seq)
    cross join lateral (
        select o.claimed_at, o.claimed_by
        from core.outbox o
        where o.generation = c.generation and o.seq = n.seq and o.status = 'in_flight'
        offset 0) o
    where o.claimed_by = c.worker and o.claimed_at + c.ttl <= now()
    order by c.expires_at
    limit $1::int) e
