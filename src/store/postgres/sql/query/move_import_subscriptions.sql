-- All subscriptions.
insert into core.subscriptions (generation, handler_name, event_types, context, channel, registered_at, declared_by, served_at)
{{move_subscriptions_rows}}
