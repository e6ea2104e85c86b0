-- Adds to the counts what one step did or saw; same transaction as the marks.
update operations
set taken = taken + :taken, delivered = delivered + :delivered, failed_again = failed_again + :failed_again,
    skipped = skipped + :skipped, changed = changed + :changed, paced_at = coalesce(:paced_at, paced_at)
where id = :id
