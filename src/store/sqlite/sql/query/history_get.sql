-- One minute or hour of one series, by the primary key.
select at, kind, name, delivered, replayed, failed, retried, first, later, replays, newest, backlog, lag_ms
from delivery_history
where hourly = :hourly and at = :at and kind = :kind and name = :name
