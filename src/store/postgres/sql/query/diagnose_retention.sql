-- The oldest finished event of those that are swept one by one, and the oldest tombstone. Indexes outbox_age and outbox_tombstones; old events that are
-- not finished stand at the head of the first, and are few.
select (select greatest(o.published_at, o.delivered_at, o.failed_at, o.restored_at) from core.outbox o
        where o.deleted_at is null and o.published_at is not null and o.status in ('delivered', 'failed')
          and (o.occurred_at < (select s.below from core.swept_one_by_one() s) or o.occurred_at >= (select s.above from core.swept_one_by_one() s))
        order by greatest(o.published_at, o.failed_at, o.restored_at) limit 1),
       (select o.deleted_at from core.outbox o
        where o.deleted_at is not null and o.status in ('delivered', 'failed') order by o.deleted_at limit 1)
