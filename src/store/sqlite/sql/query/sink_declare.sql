-- Adds or replaces what a configuration declares of one sink; its state stays.
insert into sinks (name, kind, target, handlers, changed_at, declared_at)
values (:name, :kind, :target, :handlers, :now, :now)
on conflict (name) do update
set kind = excluded.kind, target = excluded.target, handlers = excluded.handlers, declared_at = excluded.declared_at
