-- A pending event is due at :due, with each handler that still waits.
update outbox
set retry_after = :due,
    progress = iif(progress is null, null, (
      select json_group_array(json(iif(coalesce(waiting.value ->> 'exhausted', 0), waiting.value, json_set(waiting.value, '$.due', :due))))
      from json_each(progress) as waiting))
where id = :id and status = 'pending' and deleted_at is null
