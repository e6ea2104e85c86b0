-- The version of the registry of subscriptions, and which database that is: a table that is created anew has another number.
select value::bigint, tableoid::bigint from core.settings where key = 'subscriptions_version'
