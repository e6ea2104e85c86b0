-- Remembers what was healed.
insert into stranded (at, event_id, event_type, generation, cause)
select :now, id, event_type, generation, :cause from outbox where seq = :seq
returning event_id
