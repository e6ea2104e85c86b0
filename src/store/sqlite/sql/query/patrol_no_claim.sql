-- Events in flight whose claim has no end, or none that can be read (outbox_claims; only events in flight are looked at).
select seq
from outbox
where status = 'in_flight' and coalesce(claim_expires_at, '') >= '' and julianday(claim_expires_at) is null
limit :limit
