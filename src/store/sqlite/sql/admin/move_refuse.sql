-- The store has moved: whoever writes, through Sluice or past it, is told where to. RAISE takes literals only, so the adapter
-- writes the sentence in.
create trigger move_refuse_outbox_i before insert on outbox
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_outbox_u before update on outbox
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_outbox_d before delete on outbox
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_event_handled_i before insert on event_handled
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_event_handled_d before delete on event_handled
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_deployments_i before insert on deployments
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_deployments_u before update on deployments
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_subscriptions_i before insert on subscriptions
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_subscriptions_u before update on subscriptions
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_subscriptions_d before delete on subscriptions
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_sinks_i before insert on sinks
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_sinks_u before update on sinks
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_operations_i before insert on operations
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_operations_u before update on operations
begin
  select raise(abort, '$message$');
end;
create trigger move_refuse_audit_i before insert on audit
begin
  select raise(abort, '$message$');
end;
