-- The events of one operation.
insert into core.operation_items (operation_id, place, event_id, claim_seq, cycle, state)
{{move_operation_items_rows}}
