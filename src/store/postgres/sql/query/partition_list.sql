-- The partitions of core.outbox, oldest first, the default one last.
select p.name, p.since, p.until, p.is_default, p.rows, p.bytes, p.note from core.partitions() p
