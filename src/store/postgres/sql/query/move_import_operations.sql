-- All operations.
insert into core.operations (id, kind, state, filter, to_generation, rate, canary, stop_percent, total, taken, delivered, failed_again, skipped,
    changed, paced_at, actor, surface, reason, note, executor, lease_until, planned_at, expires_at, started_at, ended_at)
{{move_operations_rows}}
