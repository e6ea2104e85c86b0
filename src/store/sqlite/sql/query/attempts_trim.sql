-- Forgets what is too much for an event: all but the first and the latest of settings.attempts_kept. Primary key.
delete from attempts
where event_id in (select value ->> 'event_id' from json_each(:attempts)) and number > 1
  and number <= (select max(latest.number) from attempts as latest where latest.event_id = attempts.event_id)
                - max(1, coalesce((select cast(settings.value as integer) from settings where settings.key = 'attempts_kept'), 20) - 1)
