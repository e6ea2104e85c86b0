-- Moves a bounded batch of pending events to another generation, oldest first (outbox_fresh, outbox_due). A
-- channel composed from the old generation follows them, as with a replay.
update outbox
set generation = :to, retry_after = coalesce(retry_after, :now), progress = null, lane = '',
    channel = case
      when channel = 'outbox_gen_' || generation or channel glob 'outbox_gen_' || generation || '_*'
      then 'outbox_gen_' || :to || substr(channel, length('outbox_gen_' || generation) + 1)
      else channel end
where seq in (
  select seq from outbox where status = 'pending' and deleted_at is null and retry_after is null and generation = :from
  union all
  select seq from outbox where status = 'pending' and deleted_at is null and retry_after is not null and generation = :from
  order by 1
  limit :limit)
