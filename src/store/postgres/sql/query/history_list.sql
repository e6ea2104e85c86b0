-- Minutes or hours of one kind, oldest first, of all names or of one. By the primary key.
select at, kind, name, delivered, replayed, failed, retried, first, later, replays, newest, backlog, lag_ms
from core.delivery_history
where hourly = $1::boolean and at >= $2::timestamptz and at < $3::timestamptz and kind = $4::text
  and ($5::text is null or name = $5::text)
order by at, name
