-- No event waits for this handler that it does not want any more (outbox_due). What waited for it alone is for any worker to
-- finish.
update outbox
set lane = '',
    progress = nullif((
      select json_group_array(json(waiting.value)) from json_each(progress) as waiting
      where waiting.value ->> 'handler' <> :handler_name), '[]')
where status = 'pending' and deleted_at is null and retry_after is not null and generation = :generation
  and exists (select 1 from json_each(progress) as waiting where waiting.value ->> 'handler' = :handler_name)
  and not exists (select 1 from outbox_subscribers as s where s.seq = outbox.seq and s.handler_name = :handler_name)
