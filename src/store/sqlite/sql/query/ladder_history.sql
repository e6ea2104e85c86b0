-- The hourly figures, oldest first, by the primary key.
select hour, rows, latencies from ladder_samples where hour >= :since order by hour
