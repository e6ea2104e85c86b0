CREATE VIEW outbox_keyed (seq, generation, key_subscribed, wanted) as
select seq, generation, key_subscribed, exists (select 1 from outbox_subscribers as s where s.seq = o.seq)
from outbox as o
where ordering_key is not null and status = 'pending' and deleted_at is null;

CREATE VIEW outbox_subscribers (seq, handler_name) as
select o.seq, s.handler_name
from outbox as o join subscriptions as s on s.generation = o.generation
where (s.context is null or o.target is null or s.context = o.target)
  and (s.channel is null or s.channel = o.channel)
  and exists (
    select 1 from json_each(s.event_types) as pattern
    where pattern.value = o.event_type
       or (substr(pattern.value, -1) = '*'
           and substr(o.event_type, 1, length(pattern.value) - 1) = substr(pattern.value, 1, length(pattern.value) - 1)));

CREATE TRIGGER audit_no_delete before delete on audit
begin
  select raise(abort, 'the audit is append-only: a record cannot be deleted');
end;

CREATE TRIGGER audit_no_update before update on audit
begin
  select raise(abort, 'the audit is append-only: a record cannot be changed');
end;

CREATE TRIGGER outbox_attempts after delete on outbox
begin
  delete from attempts where event_id = old.id;
end;

CREATE TRIGGER outbox_default_channel after insert on outbox when new.channel = 'outbox_default'
begin
  update outbox set channel = 'outbox_gen_' || new.generation where seq = new.seq;
end;

CREATE TRIGGER outbox_failure_begin after update of status on outbox
  when new.status = 'failed' and old.status <> 'failed' and new.failed_at is null
begin
  update outbox set failed_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z' where seq = new.seq;
end;

CREATE TRIGGER outbox_failure_end after update of status on outbox
  when old.status = 'failed' and new.status <> 'failed'
begin
  update failure_groups set replayed = replayed + 1 where id = old.group_id;
  update outbox set failed_at = null, group_id = null where seq = new.seq and failed_at is not null;
end;

CREATE TRIGGER outbox_failure_group after update of failed_at on outbox
  when new.status = 'failed' and new.failed_at is not null and new.group_id is null
begin
  update failure_groups
  set last_seen_at = max(last_seen_at, new.failed_at)
  where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
    and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error');
  insert into failure_groups (event_type, source, target, failure_class, fingerprint, sample_error, first_seen_at, last_seen_at)
  select new.event_type, new.source, new.target, coalesce(new.failure_class, 'Error'), coalesce(new.fingerprint, ''),
         coalesce(new.last_error, ''), new.failed_at, new.failed_at
  where not exists (
    select 1 from failure_groups
    where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
      and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error'));
  update outbox
  set group_id = (
    select id from failure_groups
    where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
      and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error'))
  where seq = new.seq;
end;

CREATE TRIGGER outbox_failure_insert after insert on outbox when new.status = 'failed'
begin
  update outbox set failed_at = coalesce(failed_at, strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z') where seq = new.seq;
end;

CREATE TRIGGER outbox_failure_restored after update of deleted_at on outbox
  when new.status = 'failed' and old.deleted_at is not null and new.deleted_at is null
    and not exists (select 1 from failure_groups where id = new.group_id)
begin
  update outbox set group_id = null, failed_at = new.failed_at where seq = new.seq;
end;

CREATE TRIGGER outbox_idempotency_key after insert on outbox when new.idempotency_key is null
begin
  update outbox set idempotency_key = new.id where seq = new.seq;
end;

CREATE TRIGGER outbox_identity before update of id, seq, idempotency_key on outbox
  when new.id <> old.id or new.seq <> old.seq or new.idempotency_key is not coalesce(old.idempotency_key, old.id)
begin
  select raise(abort, 'id, seq and idempotency_key never change');
end;

CREATE TRIGGER outbox_key_delete after delete on outbox when old.ordering_key is not null
begin
  update outbox set key_blocked = 0
    where key_blocked = 1 and seq = coalesce(
      (select seq from outbox where ordering_key = old.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = old.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = old.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
end;

CREATE TRIGGER outbox_key_insert after insert on outbox when new.ordering_key is not null
begin
  update outbox set key_subscribed = not key_subscribed
    where seq = new.seq and key_subscribed <> (select wanted from outbox_keyed where seq = new.seq);
  update outbox set key_blocked = 1
    where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_blocked = 0 and seq <> coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
end;

CREATE TRIGGER outbox_key_moved after update of status, generation, channel, event_type, target, deleted_at on outbox
  when new.ordering_key is not null and new.status = 'pending' and new.deleted_at is null
    and (old.status <> 'pending' or new.generation <> old.generation or new.channel <> old.channel
         or new.event_type <> old.event_type or new.target is not old.target or old.deleted_at is not null)
begin
  update outbox set key_subscribed = not key_subscribed
    where seq = new.seq and key_subscribed <> (select wanted from outbox_keyed where seq = new.seq);
end;

CREATE TRIGGER outbox_key_update after update of status, key_subscribed, deleted_at on outbox
  when new.ordering_key is not null
    and (new.status <> old.status or new.key_subscribed <> old.key_subscribed
         or (new.status = 'pending' and (new.deleted_at is null) <> (old.deleted_at is null)))
begin
  update outbox set key_blocked = 1
    where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_blocked = 0 and seq <> coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
  update outbox set key_blocked = 0
    where key_blocked = 1 and seq = coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
end;

CREATE TRIGGER outbox_restored after update of deleted_at on outbox
  when old.deleted_at is not null and new.deleted_at is null and new.restored_at is old.restored_at
begin
  update outbox set restored_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z' where seq = new.seq;
end;

CREATE TRIGGER outbox_transition before update of status, claim_seq on outbox
begin
  select case
    when old.status = 'pending' and new.status not in ('pending', 'in_flight')
      then raise(abort, 'a pending event can only become in_flight, by a claim')
    when old.status = 'pending' and new.status = 'in_flight' and old.deleted_at is not null
      then raise(abort, 'a cancelled event cannot be claimed')
    when old.status = 'delivered' and new.status = 'in_flight'
      then raise(abort, 'a delivered event can only become failed, by a consumer''s report, or pending, when it is sent again')
    when old.status = 'delivered' and new.status = 'failed' and instr(coalesce(old.claimed_by, ''), '/relay:') = 0
      then raise(abort, 'only an event that a relay has delivered to a broker can fail afterwards')
    when old.status = 'failed' and new.status not in ('failed', 'pending')
      then raise(abort, 'a failed event can only become pending, by a replay')
    when old.status = 'pending' and new.status = 'in_flight' and new.claim_seq <> old.claim_seq + 1
      then raise(abort, 'a claim must raise claim_seq by exactly one')
    when (old.status <> 'pending' or new.status <> 'in_flight') and new.claim_seq <> old.claim_seq
      then raise(abort, 'claim_seq changes with a claim only')
    when old.status <> 'pending' and new.status = 'pending' and new.retry_after is null
      then raise(abort, 'an event that becomes pending again must have retry_after set')
    when old.status in ('failed', 'delivered') and new.status = 'pending' and old.deleted_at is not null
      then raise(abort, 'a tombstoned event cannot be replayed or sent again')
    when old.status = 'failed' and new.status = 'pending' and new.failure_history = old.failure_history
      then raise(abort, 'a replay must record in failure_history what it replays')
    when old.status = 'delivered' and new.status = 'pending' and new.failure_history = old.failure_history
      then raise(abort, 'what sends a delivered event again must record it in failure_history')
  end;
end;

CREATE TRIGGER outbox_uncancelled before update of deleted_at on outbox
  when new.status = 'pending' and old.deleted_at is not null and new.deleted_at is null and new.retry_after is null
begin
  select raise(abort, 'an event that becomes claimable again must have retry_after set');
end;

CREATE TRIGGER subscriptions_delete after delete on subscriptions
begin
  update outbox set key_subscribed = not key_subscribed
    where seq in (select seq from outbox_keyed where generation = old.generation and key_subscribed <> wanted);
end;

CREATE TRIGGER subscriptions_insert after insert on subscriptions
begin
  update outbox set key_subscribed = not key_subscribed
    where seq in (select seq from outbox_keyed where generation = new.generation and key_subscribed <> wanted);
end;

CREATE TRIGGER subscriptions_update after update on subscriptions
begin
  update outbox set key_subscribed = not key_subscribed
    where seq in (select seq from outbox_keyed
                  where generation in (old.generation, new.generation) and key_subscribed <> wanted);
end;

CREATE TABLE attempts (
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

CREATE TABLE audit (
  id integer primary key autoincrement,
  at text not null default (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
  actor text not null,
  surface text not null,
  reason text not null default '',
  action text not null,
  event_id text,
  count integer not null default 1,
  detail text not null default '{}'
    constraint "detail must be JSON" check (json_valid(detail))
) strict;

CREATE TABLE delivery_history (
  hourly integer not null,
  at text not null,
  kind text not null
    constraint "kind must be all, handler, type or sink" check (kind in ('all', 'handler', 'type', 'sink')),
  name text not null,
  delivered integer not null default 0,
  replayed integer not null default 0,
  failed integer not null default 0,
  retried integer not null default 0,
  first text not null default '',
  later text not null default '',
  replays text not null default '',
  newest integer,
  backlog integer,
  lag_ms integer,
  primary key (hourly, at, kind, name)
) strict, without rowid;

CREATE TABLE deployments (
  generation integer primary key
    constraint "generation must be at least 1" check (generation >= 1),
  state text not null default 'allocated'
    constraint "state must be allocated, live, draining or retired"
      check (state in ('allocated', 'live', 'draining', 'retired')),
  note text not null default '',
  changed_by text not null default '',
  allocated_at text not null default (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
  activated_at text,
  draining_at text,
  retired_at text
) strict;

CREATE TABLE event_handled (
  handler_name text not null,
  idempotency_key text not null,
  handled_at text not null default (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
  event_id text,
  primary key (idempotency_key, handler_name)
) strict, without rowid;

CREATE TABLE failure_groups (
  id integer primary key autoincrement, -- a number is not given out again: tombstones may still name it
  event_type text not null,
  source text not null,
  target text,
  failure_class text not null,
  fingerprint text not null,
  sample_error text not null,
  first_seen_at text not null,
  last_seen_at text not null,
  replayed integer not null default 0,
  acknowledged_at text,
  acknowledged_by text not null default '',
  acknowledged_reason text not null default ''
) strict;

CREATE TABLE ladder_samples (
  hour text primary key not null,
  rows integer,
  latencies text not null default '[]'
    constraint "latencies must be a JSON array"
      check (case when json_valid(latencies) then json_type(latencies) = 'array' else 0 end)
) strict, without rowid;

CREATE TABLE operation_items (
  operation_id text not null,
  place integer not null,
  event_id text not null,
  claim_seq integer not null,
  cycle integer not null,
  state text not null default 'waiting'
    constraint "state must be waiting, in_flight, delivered, failed_again, skipped or changed"
      check (state in ('waiting', 'in_flight', 'delivered', 'failed_again', 'skipped', 'changed')),
  primary key (operation_id, place)
) strict, without rowid;

CREATE TABLE operations (
  id text primary key not null,
  kind text not null
    constraint "kind must be replay, discard or restore" check (kind in ('replay', 'discard', 'restore')),
  state text not null
    constraint "state must be planned, running, paused, stopped, cancelled or finished"
      check (state in ('planned', 'running', 'paused', 'stopped', 'cancelled', 'finished')),
  filter text not null,
  to_generation integer,
  rate integer not null
    constraint "rate must not be negative" check (rate >= 0),
  canary integer not null
    constraint "canary must not be negative" check (canary >= 0),
  stop_percent integer not null
    constraint "stop_percent must be between 0 and 100" check (stop_percent between 0 and 100),
  total integer not null,
  taken integer not null default 0,
  delivered integer not null default 0,
  failed_again integer not null default 0,
  skipped integer not null default 0,
  changed integer not null default 0,
  paced_at text,
  actor text not null,
  surface text not null,
  reason text not null,
  note text not null default '',
  executor text not null default '',
  lease_until text,
  planned_at text not null,
  expires_at text not null,
  started_at text,
  ended_at text,
  constraint "the counts must add up to at most the total"
    check (delivered + failed_again + skipped + changed <= taken and taken <= total)
) strict, without rowid;

CREATE TABLE outbox (
  -- Insert order. Autoincrement: a number is never given twice, also after retention deleted rows.
  seq integer primary key autoincrement,
  -- The default makes a version 7 id for a plain INSERT.
  id text not null unique
    default (printf('%08x-%04x-7%03x-%04x-%04x%08x',
      (cast((julianday('now') - 2440587.5) * 86400000 as integer) >> 16) & 0xffffffff,
      cast((julianday('now') - 2440587.5) * 86400000 as integer) & 0xffff,
      random() & 0xfff, 0x8000 | (random() & 0x3fff), random() & 0xffff, random() & 0xffffffff))
    constraint "id must be a lower-case uuid"
      check (id like '________-____-____-____-____________' and id = lower(id)),
  event_type text not null
    constraint "event_type must have 1 to 255 bytes" check (length(cast(event_type as blob)) between 1 and 255)
    constraint "event_type must be dot-separated names such as scan.completed"
      check (event_type glob '[A-Za-z]*' and event_type not glob '*[^A-Za-z0-9_.-]*' and event_type not glob '*..*'
             and event_type not glob '*.'),
  event_version integer not null default 1
    constraint "event_version must be at least 1" check (event_version >= 1),
  occurred_at text not null default (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z')
    constraint "occurred_at must be written as 2026-01-31T09:00:00.000000Z"
      check (occurred_at like '____-__-__T__:__:__.______Z'),
  source text not null
    constraint "source must be a context name ([a-z][a-z0-9_]*)"
      check (source glob '[a-z]*' and source not glob '*[^a-z0-9_]*'),
  target text
    constraint "target must be a context name ([a-z][a-z0-9_]*)"
      check (target glob '[a-z]*' and target not glob '*[^a-z0-9_]*'),
  content_class text not null default 'default',
  channel text not null default 'outbox_default'
    constraint "channel must have 1 to 63 bytes" check (length(cast(channel as blob)) between 1 and 63),
  generation integer not null
    constraint "generation must be at least 1" check (generation >= 1),
  workspace_id text
    constraint "workspace_id must be a lower-case uuid"
      check (workspace_id like '________-____-____-____-____________' and workspace_id = lower(workspace_id)),
  payload text not null
    constraint "payload must be a JSON object"
      check (case when json_valid(payload) then json_type(payload) = 'object' else 0 end)
    -- Publishers have a smaller limit of their own; this one is for a plain INSERT.
    constraint "payload must be at most 67108864 bytes" check (length(cast(payload as blob)) <= 67108864),
  -- Null only within an INSERT that leaves it out: outbox_idempotency_key fills in the id.
  idempotency_key text
    constraint "idempotency_key must have 1 to 255 bytes"
      check (length(cast(idempotency_key as blob)) between 1 and 255),
  -- It becomes a header of a delivery, where a line break would begin another one. Counted in bytes: text ends at a NUL
  -- for the other functions.
  trace_context text
    constraint "trace_context must be a W3C traceparent (00-<32 hex digits>-<16 hex digits>-<2 hex digits>)"
      check (length(cast(trace_context as blob)) = 55 and length(replace(trace_context, '-', '')) = 52
        and trace_context like '00-________________________________-________________-__'
        and trace_context not glob '*[^-0-9a-f]*' and trim(substr(trace_context, 4, 32), '0') <> ''
        and trim(substr(trace_context, 37, 16), '0') <> ''),
  status text not null default 'pending'
    constraint "status must be pending, in_flight, delivered or failed"
      check (status in ('pending', 'in_flight', 'delivered', 'failed')),
  attempts integer not null default 0
    constraint "attempts must not be negative" check (attempts >= 0),
  last_error text,
  failure_class text,
  fingerprint text,
  first_failed_at text,
  failure_history text not null default '[]'
    constraint "failure_history must be a JSON array"
      check (case when json_valid(failure_history) then json_type(failure_history) = 'array' else 0 end),
  claimed_at text,
  claimed_by text,
  claim_seq integer not null default 0,
  claim_expires_at text,
  retry_after text
    constraint "retry_after must be written as 2026-01-31T09:00:00.000000Z"
      check (retry_after like '____-__-__T__:__:__.______Z'),
  ordering_key text
    constraint "ordering_key must have 1 to 255 bytes" check (length(cast(ordering_key as blob)) between 1 and 255),
  -- 1 while another event of the same ordering key goes first; kept by the outbox_key_* triggers, so
  -- that a claim never looks at events that have to wait for their predecessor.
  key_blocked integer not null default 0,
  published_at text not null default (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z')
    constraint "published_at must be written as 2026-01-31T09:00:00.000000Z"
      check (published_at like '____-__-__T__:__:__.______Z'),
  delivered_at text,
  deleted_at text,
  -- When its tombstone was cleared last: it is kept as long again from then on.
  restored_at text,
  -- The handlers that have not handled the event yet, where it has several: attempts and due time of each,
  -- the latter written as 2026-01-31T09:00:00.000000Z like every time here.
  progress text
    constraint "progress must be a JSON array"
      check (case when json_valid(progress) then json_type(progress) = 'array' else progress is null end),
  -- The one scope whose workers can go on with the event; empty: any.
  lane text not null default '',
  -- When it failed since the last replay, and in which group of failures; null in every other state. Kept by the
  -- outbox_failure_* triggers, whoever writes.
  failed_at text,
  group_id integer,
  -- Of a pending event with an ordering key: 1 when a subscription of its generation matches it. Later events of its
  -- key wait for no other. Kept by the outbox_key_* and subscriptions_* triggers, so that a publish or a settle finds
  -- the head of a key by index, however many events that nobody wants lie before it.
  key_subscribed integer not null default 1,
  constraint "an event in flight cannot be tombstoned" check (deleted_at is null or status <> 'in_flight')
) strict;

CREATE TABLE patrol (
  one integer primary key constraint "there is one patrol" check (one = 1),
  holder text not null default '',
  lease_until text,
  part text not null default 'keys'
    constraint "part must be keys or due" check (part in ('keys', 'due')),
  place text not null default '',
  place_generation integer not null default 0,
  place_blocked integer not null default 0,
  place_seq integer not null default 0
) strict;

CREATE TABLE saved_filters (
  name     text not null primary key,
  filter   text not null,
  saved_by text not null,
  saved_at text not null
) strict, without rowid;

CREATE TABLE secrets (
  key text primary key not null,
  value text not null,
  description text not null
) strict, without rowid;

CREATE TABLE settings (
  key text primary key not null,
  value text not null,
  description text not null
) strict, without rowid;

CREATE TABLE sinks (
  name text primary key not null,
  kind text not null,
  target text not null,
  handlers text not null
    constraint "handlers must be a JSON array"
      check (case when json_valid(handlers) then json_type(handlers) = 'array' else 0 end),
  state text not null default 'active'
    constraint "state must be active, paused or disabled" check (state in ('active', 'paused', 'disabled')),
  changed_at text not null,
  changed_by text not null default '',
  reason text not null default '',
  opened_at text,
  open_until text,
  open_reason text not null default '',
  declared_at text not null,
  constraint "opened_at and open_until are set together" check ((opened_at is null) = (open_until is null))
) strict, without rowid;

CREATE TABLE sluice_migrations (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at text not null
) strict
;

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE stranded (
  id integer primary key autoincrement,
  at text not null,
  event_id text not null,
  event_type text not null,
  generation integer not null,
  cause text not null
    constraint "cause must be passed_over, no_claim or blocker_gone"
      check (cause in ('passed_over', 'no_claim', 'blocker_gone'))
) strict;

CREATE TABLE subscriptions (
  generation integer not null
    constraint "generation must be at least 1" check (generation >= 1),
  handler_name text not null,
  event_types text not null
    constraint "event_types must be a JSON array"
      check (case when json_valid(event_types) then json_type(event_types) = 'array' else 0 end),
  context text,
  channel text,
  registered_at text not null,
  -- Whose it is to withdraw: a daemon and its file (serve:…), a program (listener:…), workers that pull (pull).
  declared_by text not null default '',
  -- When a worker last said that it hosts the handler, to the minute.
  served_at text not null,
  primary key (generation, handler_name)
) strict, without rowid;

CREATE TABLE workers (
  identity text primary key not null,
  generation integer not null,
  handlers text not null
    constraint "handlers must be a JSON array"
      check (case when json_valid(handlers) then json_type(handlers) = 'array' else 0 end),
  listener text not null default '',
  started_at text not null,
  seen_at text not null
) strict, without rowid;

CREATE INDEX attempts_age on attempts (recorded_at);

CREATE INDEX audit_event on audit (event_id) where event_id is not null;

CREATE INDEX audit_group on audit (json_extract(detail, '$.fingerprint'), id)
  where action in ('note', 'acknowledge', 'unacknowledge');

CREATE INDEX event_handled_age on event_handled (handled_at);

CREATE UNIQUE INDEX failure_groups_kind
  on failure_groups (fingerprint, event_type, source, coalesce(target, ''), failure_class);

CREATE INDEX operation_items_in_flight on operation_items (operation_id, place) where state = 'in_flight';

CREATE INDEX operations_planned on operations (planned_at);

CREATE INDEX operations_running on operations (started_at)
  where state = 'running' or (state in ('paused', 'stopped', 'cancelled') and taken > delivered + failed_again + skipped + changed);

CREATE INDEX outbox_claims on outbox (coalesce(claim_expires_at, ''), generation, occurred_at)
  where status = 'in_flight';

CREATE INDEX outbox_dead on outbox (failed_at, seq, group_id, generation)
  where failed_at is not null and deleted_at is null;

CREATE INDEX outbox_dead_group on outbox (group_id, failed_at, seq, generation)
  where failed_at is not null and deleted_at is null;

CREATE INDEX outbox_due on outbox (generation, key_blocked, retry_after, seq, occurred_at, target, channel, event_type, lane)
  where status = 'pending' and deleted_at is null and retry_after is not null;

CREATE INDEX outbox_failed on outbox (seq) where status = 'failed';

CREATE INDEX outbox_finished on outbox (status, generation, max(published_at, coalesce(delivered_at, ''), coalesce(failed_at, ''), coalesce(restored_at, '')))
  where deleted_at is null and status in ('delivered', 'failed');

CREATE INDEX outbox_fresh on outbox (generation, key_blocked, seq, occurred_at, target, channel, event_type)
  where status = 'pending' and deleted_at is null and retry_after is null;

CREATE INDEX outbox_key_claimable on outbox (ordering_key)
  where ordering_key is not null and status = 'pending' and deleted_at is null and key_blocked = 0;

CREATE UNIQUE INDEX outbox_key_in_flight on outbox (ordering_key)
  where ordering_key is not null and status = 'in_flight';

CREATE INDEX outbox_key_pending on outbox (ordering_key, key_subscribed, seq)
  where ordering_key is not null and status = 'pending' and deleted_at is null;

CREATE INDEX outbox_tombstones on outbox (deleted_at, status) where deleted_at is not null;

