-- Gives the lease back; the name stays, for people.
update operations set lease_until = null where id = :id and executor = :executor
