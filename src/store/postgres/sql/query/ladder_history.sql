-- The hourly figures, oldest first: some hundred rows, by the primary key.
select s.hour, s.rows, array_to_string(s.latencies, ' '), s.notify_queue::text, s.snapshot_seconds, s.dead_rows
from core.ladder_samples s
where s.hour >= now() - $1::interval
order by s.hour
