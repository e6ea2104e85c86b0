-- pending -> in_flight for the candidates; same transaction as claim_fresh and claim_due.
update outbox
set status = 'in_flight', claimed_at = :now, claimed_by = :worker, claim_seq = claim_seq + 1,
    claim_expires_at = :expires_at, retry_after = null
where seq in (select value from json_each(:seqs))
