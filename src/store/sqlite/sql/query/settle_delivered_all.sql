-- settle_delivered for many at once, each looked up where its claim saw it. :claims is a JSON object from seq to
-- "id claim_seq", which costs no second parse per event; the id is asked for because a seq may stand for another event
-- in a file that was restored from a backup.
update outbox
set status = 'delivered', delivered_at = :now, claim_expires_at = null, progress = null, lane = ''
from json_each(:claims) as claim
where outbox.seq = claim.key and outbox.id || ' ' || outbox.claim_seq = claim.value and outbox.status = 'in_flight'
