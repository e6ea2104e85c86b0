-- Lifts every refusal of move_hold_claims and move_refuse.
drop trigger if exists move_hold_claims;
drop trigger if exists move_refuse_outbox_i;
drop trigger if exists move_refuse_outbox_u;
drop trigger if exists move_refuse_outbox_d;
drop trigger if exists move_refuse_event_handled_i;
drop trigger if exists move_refuse_event_handled_d;
drop trigger if exists move_refuse_deployments_i;
drop trigger if exists move_refuse_deployments_u;
drop trigger if exists move_refuse_subscriptions_i;
drop trigger if exists move_refuse_subscriptions_u;
drop trigger if exists move_refuse_subscriptions_d;
drop trigger if exists move_refuse_sinks_i;
drop trigger if exists move_refuse_sinks_u;
drop trigger if exists move_refuse_operations_i;
drop trigger if exists move_refuse_operations_u;
drop trigger if exists move_refuse_audit_i;
