-- All sinks and the state that they are in.
insert into core.sinks (name, kind, target, handlers, state, changed_at, changed_by, reason, opened_at, open_until, open_reason, declared_at)
{{move_sinks_rows}}
