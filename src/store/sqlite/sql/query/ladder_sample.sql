-- The figures of one hour so far, by the primary key.
select hour, rows, latencies from ladder_samples where hour = :hour
