-- How many events are in flight, by the index outbox_claims.
select count(*) from outbox where status = 'in_flight'
