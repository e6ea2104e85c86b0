-- What one process holds, under its name or a thread's. core.claims has a row per batch in flight; index outbox_scan.
select o.id, o.claim_seq, o.claimed_by, o.attempts, c.batch, o.generation, o.claimed_at, now(), o.progress, o.last_error,
       o.failure_class, o.fingerprint, o.event_type, o.target, o.channel
from core.claims c
cross join unnest(c.seqs) as n(seq)
cross join lateral (
    select * from core.outbox o
    where o.generation = c.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = c.worker
    offset 0) o
where c.worker = $1::text or starts_with(c.worker, $1::text || '/')
limit $2::int
