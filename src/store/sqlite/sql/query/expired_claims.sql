-- Claims whose time ran out, longest ago first (outbox_claims).
select id, claim_seq, coalesce(claimed_by, ''), attempts, generation, claimed_at, progress, coalesce(last_error, ''),
       coalesce(failure_class, ''), coalesce(fingerprint, ''), event_type, target, channel
from outbox
where status = 'in_flight' and coalesce(claim_expires_at, '') <= :now
order by coalesce(claim_expires_at, '')
limit :limit
