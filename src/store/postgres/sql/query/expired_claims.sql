-- In-flight events whose claim's time ran out. Index claims_expiry.
select id, claim_seq, worker, attempts, batch, generation, claimed_at, seen_at, progress, last_error, failure_class, fingerprint
from core.outbox_expired($1::int)
