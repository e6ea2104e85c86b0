-- The event of an ordering key that goes before another: one in flight, else the first that is pending and
-- that somebody subscribes to (outbox_key_in_flight, outbox_key_pending).
select id from (
  select id, 0 as rank, seq from outbox
  where ordering_key = :ordering_key and status = 'in_flight' and seq <> :seq
  union all
  select id, 1, seq from outbox as earlier
  where ordering_key = :ordering_key and status = 'pending' and deleted_at is null and seq < :seq
    and exists (
      select 1 from subscriptions as s, json_each(s.event_types) as pattern
      where s.generation = earlier.generation
        and (s.context is null or earlier.target is null or s.context = earlier.target)
        and (s.channel is null or s.channel = earlier.channel)
        and (pattern.value = earlier.event_type
             or (substr(pattern.value, -1) = '*'
                 and substr(earlier.event_type, 1, length(pattern.value) - 1) = substr(pattern.value, 1, length(pattern.value) - 1)))))
order by rank, seq
limit 1
