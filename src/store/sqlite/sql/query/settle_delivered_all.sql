-- settle_delivered for many at once. :claims is a JSON array of [id, claim_seq].
update outbox
set status = 'delivered', delivered_at = :now, claim_expires_at = null, progress = null, lane = ''
from (select value ->> 0 as id, value ->> 1 as claim_seq from json_each(:claims)) as claim
where outbox.id = claim.id and outbox.claim_seq = claim.claim_seq and outbox.status = 'in_flight'
