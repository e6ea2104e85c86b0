-- The numbers of the oldest and of the newest event (primary key).
select coalesce((select min(seq) from outbox), 0), coalesce((select max(seq) from outbox), 0)
