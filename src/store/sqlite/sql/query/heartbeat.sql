-- Renews one claim, fenced by claim_seq.
update outbox
set claim_expires_at = :expires_at
where id = :id and claim_seq = :claim_seq and status = 'in_flight'
