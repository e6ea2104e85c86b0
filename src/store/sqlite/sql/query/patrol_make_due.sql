-- Due now, for whoever subscribes; handlers that have handled it are known from event_handled.
update outbox set retry_after = :now, progress = null, lane = '' where seq = :seq and status = 'pending' and deleted_at is null
