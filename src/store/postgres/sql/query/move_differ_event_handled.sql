-- How many dedup rows of a slice are not stored as they were given, by the primary key. What is too many is found when all are
-- counted: the index on handled_at knows blocks, not rows.
select count(*) from (
{{move_event_handled_rows}}) as g
where not exists (
    select from core.event_handled h
    where h.handler_name = g.handler_name and h.idempotency_key = g.idempotency_key and h.handled_at = g.handled_at
      and h.event_id is not distinct from g.event_id)
  and $2::text is not null
