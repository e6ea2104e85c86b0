-- Whether an earlier pass has brought this slice.
select exists (select from core.move_slices where table_name = $1::text and slice = $2::text)
