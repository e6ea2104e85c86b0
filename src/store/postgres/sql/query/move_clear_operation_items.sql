-- Makes room for a slice of `sluice move`.
delete from core.operation_items where operation_id = $1::text::uuid
