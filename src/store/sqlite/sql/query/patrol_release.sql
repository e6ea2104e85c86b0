-- Exactly this event of its key may be claimed.
update outbox set key_blocked = (seq <> :seq)
where ordering_key = (select key.ordering_key from outbox as key where key.seq = :seq) and status = 'pending' and deleted_at is null
  and (seq = :seq or key_blocked = 0)
