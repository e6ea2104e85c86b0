-- Every group with this fingerprint becomes known, or unknown again (failure_groups_kind).
update failure_groups
set acknowledged_at = :at, acknowledged_by = :by, acknowledged_reason = :reason
where fingerprint = :fingerprint
