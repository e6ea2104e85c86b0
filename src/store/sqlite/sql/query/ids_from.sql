-- The events with ids from :first to :last (unique index on id).
select id from outbox where id >= :first and id <= :last order by id limit :limit
