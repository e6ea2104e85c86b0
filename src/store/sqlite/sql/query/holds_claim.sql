-- Is this claim still the event's? (unique index on id)
select 1 from outbox where id = :id and claim_seq = :claim_seq and status = 'in_flight'
