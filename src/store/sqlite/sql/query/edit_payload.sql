-- Another payload for an event that was just made pending; its history keeps the one before.
update outbox
set failure_history = json_set(failure_history, '$[#-1].payload', json(payload)), payload = :payload
where id = :id and status = 'pending'
