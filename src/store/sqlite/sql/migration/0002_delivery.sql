-- Delivery to several handlers: subscriptions, workers, and what an event still waits for.
--
-- For the operator: runs once, in one transaction that holds the write lock. The columns are added without
-- rewriting the table; the two claim indexes are rebuilt, which reads the table once: about a second per
-- million rows.

-- The handlers that have not handled the event yet, where it has several: attempts and due time of each,
-- the latter written as 2026-01-31T09:00:00.000000Z like every time here.
alter table outbox add column progress text
  constraint "progress must be a JSON array"
    check (case when json_valid(progress) then json_type(progress) = 'array' else progress is null end);
-- The one scope whose workers can go on with the event; empty: any.
alter table outbox add column lane text not null default '';

-- As before, and with what an interest is matched against, so that a claim passes over the events of others
-- without reading their rows.
drop index outbox_fresh;
create index outbox_fresh on outbox (generation, key_blocked, seq, occurred_at, target, channel, event_type)
  where status = 'pending' and retry_after is null;
drop index outbox_due;
create index outbox_due on outbox (generation, key_blocked, retry_after, seq, occurred_at, target, channel, event_type, lane)
  where status = 'pending' and retry_after is not null;

-- Which handler of which generation wants which events. event_types is a JSON array of patterns.
create table subscriptions (
  generation integer not null
    constraint "generation must be at least 1" check (generation >= 1),
  handler_name text not null,
  event_types text not null
    constraint "event_types must be a JSON array"
      check (case when json_valid(event_types) then json_type(event_types) = 'array' else 0 end),
  context text,
  channel text,
  registered_at text not null,
  primary key (generation, handler_name)
) strict, without rowid;
insert into settings (key, value, description) values
  ('subscriptions_version', '0', 'changes with the subscriptions; a settle that is based on an older one is refused');

-- Worker processes and when they were last seen. handlers is a JSON array of names.
create table workers (
  identity text primary key not null,
  generation integer not null,
  handlers text not null
    constraint "handlers must be a JSON array"
      check (case when json_valid(handlers) then json_type(handlers) = 'array' else 0 end),
  listener text not null default '',
  started_at text not null,
  seen_at text not null
) strict, without rowid;
