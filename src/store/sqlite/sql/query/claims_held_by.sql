-- What one process holds, under its name or a thread's (outbox_claims; only events in flight are looked at).
select id, claim_seq, coalesce(claimed_by, ''), attempts, generation, claimed_at, progress, coalesce(last_error, ''),
       coalesce(failure_class, ''), coalesce(fingerprint, ''), event_type, target, channel
from outbox
where status = 'in_flight' and coalesce(claim_expires_at, '') >= ''
  and (claimed_by = :identity or substr(claimed_by, 1, length(:identity) + 1) = :identity || '/')
limit :limit
