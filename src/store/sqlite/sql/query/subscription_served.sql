-- Notes that a worker hosts these handlers, to the minute.
update subscriptions
set served_at = :now
where generation = :generation and served_at < :minute_ago
  and handler_name in (select value from json_each(:handlers))
