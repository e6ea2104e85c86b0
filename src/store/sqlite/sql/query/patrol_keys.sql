-- The next :limit ordering keys behind :after that have something pending, and for each the event that waits although
-- nothing of its key is in flight and nothing before it is wanted; a last row without a key when there are no more. Hops
-- from key to key within outbox_key_pending. key_subscribed is not believed where it says that somebody wants an event.
with recursive hop (ordering_key, place) as (
  select min(ordering_key), 1 from outbox
  where ordering_key is not null and status = 'pending' and deleted_at is null and ordering_key > :after
  union all
  select (select min(ordering_key) from outbox where status = 'pending' and deleted_at is null and ordering_key > hop.ordering_key), place + 1
  from hop
  where ordering_key is not null and place < :limit)
select ordering_key,
       (select seq
        from (select seq, key_blocked
              from outbox
              where outbox.ordering_key = hop.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1
                and exists (select 1 from outbox_subscribers as s where s.seq = outbox.seq)
              order by seq
              limit 1)
        where key_blocked = 1 and not exists (
          select 1 from outbox as running
          where running.ordering_key = hop.ordering_key and running.status = 'in_flight'))
from hop
