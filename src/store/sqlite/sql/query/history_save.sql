-- One minute or hour of one series, as it is now.
insert or replace into delivery_history (hourly, at, kind, name, delivered, replayed, failed, retried, first, later, replays, newest, backlog, lag_ms)
values (:hourly, :at, :kind, :name, :delivered, :replayed, :failed, :retried, :first, :later, :replays, :newest, :backlog, :lag_ms)
