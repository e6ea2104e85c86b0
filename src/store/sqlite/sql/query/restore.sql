-- Takes the tombstone off a failed event, or off a pending one that was cancelled: due when it was, at once when that has
-- passed. That one waits only for handlers that still subscribe, and is for any worker; of a retired generation it goes to
-- :generation, and a channel composed from the old one follows it, as with a replay.
update outbox
set deleted_at = null, restored_at = :now,
    retry_after = iif(status = 'pending', max(coalesce(retry_after, :now), :now), retry_after),
    lane = iif(status = 'pending', '', lane),
    progress = iif(status = 'pending', nullif((
      select json_group_array(json(waiting.value)) from json_each(progress) as waiting
      where waiting.value ->> 'handler' in (
        select handler_name from subscriptions where subscriptions.generation = coalesce(:generation, outbox.generation))), '[]'), progress),
    generation = coalesce(:generation, generation),
    channel = case
      when :generation is not null and (channel = 'outbox_gen_' || generation or channel glob 'outbox_gen_' || generation || '_*')
      then 'outbox_gen_' || :generation || substr(channel, length('outbox_gen_' || generation) + 1)
      else channel end
where id = :id and status in ('failed', 'pending') and deleted_at is not null
