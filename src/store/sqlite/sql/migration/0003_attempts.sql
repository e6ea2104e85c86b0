-- The attempt log: what each attempt at an event did, beside the event. For the operator: takes milliseconds, everything is
-- new and empty. Claims and acknowledgements do not touch it: a first success leaves no row.
create table attempts (
  event_id text not null,
  -- Counts from 1 for each event, over all replays. The first and the latest are kept (settings.attempts_kept).
  number integer not null
    constraint "number must be at least 1" check (number >= 1),
  -- The claim that it was made under; 0: by a consumer of a broker.
  claim_seq integer not null,
  -- How often the event had been replayed by then.
  replay integer not null default 0,
  -- Null: not known, as of a claim that expired with several handlers.
  handler_name text,
  worker text not null,
  started_at text not null,
  duration_us integer not null,
  outcome text not null
    constraint "outcome must be handled, failed or expired" check (outcome in ('handled', 'failed', 'expired')),
  -- What the receiver of a delivery answered, where there is one.
  status_code integer,
  error text,
  response text,
  trace_id text,
  recorded_at text not null,
  primary key (event_id, number)
) strict, without rowid;
create index attempts_age on attempts (recorded_at);

insert into settings (key, value, description) values
  ('attempts_kept', '20', 'entries of the attempt log kept for an event: the first and the latest');

-- The log goes with its event, whoever deletes it.
create trigger outbox_attempts after delete on outbox
begin
  delete from attempts where event_id = old.id;
end;
