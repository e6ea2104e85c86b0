-- The audit is append-only here, too: what an earlier pass has brought stays.
insert into core.audit (id, at, actor, surface, action, event_id, count, reason, detail) overriding system value
{{move_audit_rows}}
on conflict do nothing
