-- delivered -> failed: a consumer of the broker is out of attempts; a trigger finds its group.
update outbox
set status = 'failed', progress = :progress, attempts = max(attempts, :attempts), last_error = :last_error,
    failure_class = :failure_class, fingerprint = :fingerprint, first_failed_at = coalesce(first_failed_at, :now),
    failed_at = :now, claimed_at = :now
where id = :id and status = 'delivered'
