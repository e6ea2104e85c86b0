-- Adds or renews the record of a worker process.
insert into workers (identity, generation, handlers, listener, started_at, seen_at)
values (:identity, :generation, :handlers, :listener, :now, :now)
on conflict (identity) do update
set generation = excluded.generation, handlers = excluded.handlers, listener = excluded.listener,
    seen_at = excluded.seen_at
