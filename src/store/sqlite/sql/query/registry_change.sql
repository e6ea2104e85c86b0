-- A new version of the registry; same transaction as the change of a subscription.
update settings set value = cast(cast(value as integer) + 1 as text) where key = 'subscriptions_version'
