-- How far the consumers of a relayed event have come; of a dead letter the row goes on telling of the first failure.
update outbox
set progress = :progress, attempts = max(attempts, :attempts),
    first_failed_at = coalesce(first_failed_at, case when :attempts > 0 then :now end)
where id = :id
