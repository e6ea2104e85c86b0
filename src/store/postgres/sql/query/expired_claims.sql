-- In-flight events whose claim's time ran out. Index claims_expiry.
select id, claim_seq, worker, attempts from core.outbox_expired($1::int)
