-- The version of the registry of subscriptions.
select cast(value as integer) from settings where key = 'subscriptions_version'
