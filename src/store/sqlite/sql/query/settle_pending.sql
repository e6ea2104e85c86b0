-- in_flight -> pending, fenced by claim_seq: a retry or an expired claim (counted), a release, or an event
-- that some of its handlers have handled.
update outbox
set status = 'pending', retry_after = :retry_after, claimed_at = null, claimed_by = null, claim_expires_at = null,
    attempts = attempts + :counted,
    last_error = case when :recorded then :last_error else last_error end,
    failure_class = case when :recorded then :failure_class else failure_class end,
    fingerprint = case when :recorded then :fingerprint else fingerprint end,
    first_failed_at = case when :recorded then coalesce(first_failed_at, :now) else first_failed_at end,
    progress = :progress, lane = :lane
where id = :id and claim_seq = :claim_seq and status = 'in_flight'
