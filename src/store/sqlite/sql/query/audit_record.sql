-- One audit record; same transaction as the change it tells of.
insert into audit (at, actor, surface, reason, action, event_id, count, detail)
values (:now, :actor, :surface, :reason, :action, :event_id, :count, :detail)
