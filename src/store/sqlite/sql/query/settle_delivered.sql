-- in_flight -> delivered, fenced by claim_seq (unique index on id).
update outbox
set status = 'delivered', delivered_at = :now, claim_expires_at = null, progress = null, lane = ''
where id = :id and claim_seq = :claim_seq and status = 'in_flight'
