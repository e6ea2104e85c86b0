-- A slice that the other store no longer has.
delete from core.move_slices where table_name = $1::text and slice = $2::text
