-- Minutes or hours of one kind, oldest first, of all names or of one. By the primary key.
select at, kind, name, delivered, replayed, failed, retried, first, later, replays, newest, backlog, lag_ms
from delivery_history
where hourly = :hourly and at >= :from and at < :until and kind = :kind and (:name is null or name = :name)
order by at, name
