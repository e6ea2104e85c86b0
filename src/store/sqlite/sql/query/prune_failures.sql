-- Forgets groups of failures of which no dead letter is left (outbox_dead_group) and that nothing has joined for as long
-- as one is kept.
delete from failure_groups
where last_seen_at < :before
  and not exists (
    select 1 from outbox
    where group_id = failure_groups.id and failed_at is not null and deleted_at is null)
