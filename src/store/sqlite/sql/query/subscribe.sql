-- Adds or replaces one subscription. Repeating it unchanged changes no row.
insert into subscriptions (generation, handler_name, event_types, context, channel, registered_at, declared_by, served_at)
values (:generation, :handler_name, :event_types, :context, :channel, :now, :declared_by, :now)
on conflict (generation, handler_name) do update
set event_types = excluded.event_types, context = excluded.context, channel = excluded.channel,
    registered_at = excluded.registered_at
where event_types <> excluded.event_types or context is not excluded.context or channel is not excluded.channel
