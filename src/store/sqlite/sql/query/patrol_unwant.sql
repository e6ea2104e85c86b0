-- What the walk saw that nobody wants holds up its key no longer; the triggers find the new head.
update outbox set key_subscribed = 0
where ordering_key = (select key.ordering_key from outbox as key where key.seq = :seq) and status = 'pending' and deleted_at is null
  and key_subscribed = 1 and seq < :seq
