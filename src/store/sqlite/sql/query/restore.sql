-- Takes the tombstone off a failed event, or off a pending one that was cancelled: due when it was, at once when that has
-- passed. That one waits only for handlers that still subscribe, and is for any worker.
update outbox
set deleted_at = null, restored_at = :now,
    retry_after = iif(status = 'pending', max(coalesce(retry_after, :now), :now), retry_after),
    lane = iif(status = 'pending', '', lane),
    progress = iif(status = 'pending', nullif((
      select json_group_array(json(waiting.value)) from json_each(progress) as waiting
      where waiting.value ->> 'handler' in (
        select handler_name from subscriptions where subscriptions.generation = outbox.generation)), '[]'), progress)
where id = :id and status in ('failed', 'pending') and deleted_at is not null
