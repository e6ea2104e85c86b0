-- The last one to declare a subscription is whose it is to withdraw; who gives no name takes none over.
update subscriptions
set declared_by = :declared_by, registered_at = :now
where generation = :generation and handler_name = :handler_name and declared_by <> :declared_by and :declared_by <> ''
