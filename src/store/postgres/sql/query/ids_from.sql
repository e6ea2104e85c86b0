-- The events with ids from $1 to $2, at most $3. Index outbox_pkey.
select o.id from core.outbox o where o.id >= $1::uuid and o.id <= $2::uuid order by o.id limit $3::int
