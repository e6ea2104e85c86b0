-- The slices that were brought and compared, by table and slice.
select table_name, slice, digest, rows from core.move_slices order by table_name, slice
