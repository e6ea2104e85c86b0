-- Adds to the history of deliveries; see core.history_record. The primary key finds the rows.
select core.history_record($1::jsonb, $2::interval, $3::interval)
