-- planned -> running; the code has checked that it may.
update operations
set state = 'running', rate = :rate, canary = :canary, stop_percent = :stop_percent,
    actor = :actor, surface = :surface, reason = :reason, started_at = :now
where id = :id
