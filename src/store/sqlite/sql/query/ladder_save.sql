-- The figures of one hour, as they are now.
insert into ladder_samples (hour, rows, latencies) values (:hour, :rows, :latencies)
on conflict (hour) do update set rows = excluded.rows, latencies = excluded.latencies
