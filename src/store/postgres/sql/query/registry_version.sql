-- The version of the registry of subscriptions.
select value::bigint from core.settings where key = 'subscriptions_version'
