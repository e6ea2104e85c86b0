-- Which replay of the event the next one is, 1 for the first (unique index on id).
select coalesce(json_extract(failure_history, '$[#-1].cycle'), 0) + 1 from outbox where id = :id
