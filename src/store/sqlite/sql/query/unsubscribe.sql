-- Nobody waits for this handler any more.
delete from subscriptions where generation = :generation and handler_name = :handler_name
