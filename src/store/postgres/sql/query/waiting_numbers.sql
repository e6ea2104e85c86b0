-- The numbers of the events that waited or wait, at most $1. Index outbox_waiting.
select o.generation, o.seq from core.outbox o where o.retry_after is not null limit $1::int
