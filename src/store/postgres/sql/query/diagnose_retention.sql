-- The oldest finished event and the oldest tombstone. Indexes outbox_age and outbox_tombstones; old events that are
-- not finished stand at the head of the first, and are few.
select (select o.occurred_at from core.outbox o
        where o.deleted_at is null and o.status in ('delivered', 'failed') order by o.occurred_at limit 1),
       (select o.deleted_at from core.outbox o
        where o.deleted_at is not null and o.status in ('delivered', 'failed') order by o.deleted_at limit 1)
