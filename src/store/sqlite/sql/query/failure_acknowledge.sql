-- Every group with this fingerprint becomes known, or unknown again (failure_clusters_kind).
update failure_clusters
set acknowledged_at = :at, acknowledged_by = :by, acknowledged_reason = :reason
where fingerprint = :fingerprint
