-- in_flight -> failed, fenced by claim_seq; outbox_failure_group finds its kind. claimed_at stays: when the
-- attempt that failed began.
update outbox
set status = 'failed', claim_expires_at = null,
    attempts = attempts + :counted,
    last_error = case when :recorded then :last_error else last_error end,
    failure_class = case when :recorded then :failure_class else failure_class end,
    fingerprint = case when :recorded then :fingerprint else fingerprint end,
    first_failed_at = case when :recorded then coalesce(first_failed_at, :now) else first_failed_at end,
    failed_at = :now, progress = :progress, lane = :lane
where id = :id and claim_seq = :claim_seq and status = 'in_flight'
