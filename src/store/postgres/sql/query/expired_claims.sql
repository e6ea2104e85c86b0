-- In-flight events whose claim's time ran out, each with its route. Indexes claims_expiry and outbox_pkey.
select e.id, e.claim_seq, e.worker, e.attempts, e.batch, e.generation, e.claimed_at, e.seen_at, e.progress, e.last_error,
       e.failure_class, e.fingerprint, o.event_type, o.target, o.channel
from core.outbox_expired($1::int) e
join core.outbox o on o.id = e.id and o.claim_seq = e.claim_seq
