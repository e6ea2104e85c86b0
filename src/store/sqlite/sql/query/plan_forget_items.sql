-- The sets of plans that nobody started and of operations that are long over; before plan_forget, in the same
-- transaction.
delete from operation_items
where operation_id in (
  select id from operations where (state = 'planned' and expires_at < :expired_before) or ended_at < :ended_before)
