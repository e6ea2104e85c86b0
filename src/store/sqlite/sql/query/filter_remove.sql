-- Removes a filter by its name (primary key).
delete from saved_filters where name = :name returning filter
