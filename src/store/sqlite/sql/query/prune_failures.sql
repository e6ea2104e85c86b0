-- Forgets groups of failures of which no dead letter is left (outbox_dead_cluster) and that nothing has joined for as long
-- as one is kept.
delete from failure_clusters
where last_seen_at < :before
  and not exists (
    select 1 from outbox
    where cluster_id = failure_clusters.id and failed_at is not null and deleted_at is null)
