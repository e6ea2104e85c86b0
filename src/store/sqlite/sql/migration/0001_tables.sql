-- The embedded store's tables, in their final form; the views and triggers that keep them follow in 0002.
--
-- For the operator: runs once, in one transaction, on a new file; it takes milliseconds and holds the
-- write lock meanwhile. Times are text of fixed width (2026-01-31T09:00:00.000000Z, UTC), so that
-- text order is time order. JSON is text and kept byte for byte.

create table outbox (
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
  constraint "only delivered or failed events may be tombstoned"
    check (deleted_at is null or status in ('delivered', 'failed'))
) strict;

-- The reaper's scan. A claim without an expiry, made by hand, counts as expired.
create index outbox_claims on outbox (coalesce(claim_expires_at, ''), generation, occurred_at)
  where status = 'in_flight';

-- Retention and counts of what is finished; the dead letters, newest first; the tombstones.
create index outbox_finished on outbox (status, generation, max(published_at, coalesce(delivered_at, ''), coalesce(failed_at, ''), coalesce(restored_at, '')))
  where deleted_at is null and status in ('delivered', 'failed');
create index outbox_failed on outbox (seq) where status = 'failed';
create index outbox_tombstones on outbox (deleted_at, status) where deleted_at is not null;

-- Ordering keys: the one in flight, the one that may be claimed, and (below) the pending ones, whose first is the head.
create unique index outbox_key_in_flight on outbox (ordering_key)
  where ordering_key is not null and status = 'in_flight';
create index outbox_key_claimable on outbox (ordering_key)
  where ordering_key is not null and status = 'pending' and key_blocked = 0;

-- The two claim scans. The trailing columns answer the filters and the status counts from the index, and what an
-- interest is matched against, so that a claim passes over the events of others without reading their rows.
create index outbox_fresh on outbox (generation, key_blocked, seq, occurred_at, target, channel, event_type)
  where status = 'pending' and retry_after is null;
create index outbox_due on outbox (generation, key_blocked, retry_after, seq, occurred_at, target, channel, event_type, lane)
  where status = 'pending' and retry_after is not null;

-- The dead letters, newest failure first, and those of one group. The trailing columns answer filters and
-- counts from the index.
create index outbox_dead on outbox (failed_at, seq, group_id, generation)
  where failed_at is not null and deleted_at is null;
create index outbox_dead_group on outbox (group_id, failed_at, seq, generation)
  where failed_at is not null and deleted_at is null;

-- The pending events of a key: those that somebody subscribes to, then the others.
create index outbox_key_pending on outbox (ordering_key, key_subscribed, seq)
  where ordering_key is not null and status = 'pending';

-- What has been handled, by whom. The key order serves both the dedup check and "who handled this?".
create table event_handled (
  handler_name text not null,
  idempotency_key text not null,
  handled_at text not null default (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
  event_id text,
  primary key (idempotency_key, handler_name)
) strict, without rowid;
create index event_handled_age on event_handled (handled_at);

create table deployments (
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

create table settings (
  key text primary key not null,
  value text not null,
  description text not null
) strict, without rowid;
insert into settings (key, value, description) values
  ('relay', 'off', 'who carries the deliveries: off (the database), on NATS or Redis, or draining back'),
  ('failure_history_max', '50', 'entries kept in failure_history: the first and the latest'),
  ('subscriptions_version', '0', 'changes with the subscriptions; a settle that is based on an older one is refused');

create table secrets (
  key text primary key not null,
  value text not null,
  description text not null
) strict, without rowid;
insert into secrets (key, value, description) values
  ('pull_tokens', lower(hex(randomblob(32))),
   'signs the claims that workers hold over HTTP; with another value they are refused, and their events come again');

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
  -- Whose it is to withdraw: a daemon and its file (serve:…), a program (listener:…), workers that pull (pull).
  declared_by text not null default '',
  -- When a worker last said that it hosts the handler, to the minute.
  served_at text not null,
  primary key (generation, handler_name)
) strict, without rowid;

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

-- Where daemons deliver to, and whether each takes deliveries: one state for all daemons, which outlives them. handlers is
-- a JSON array of names. opened_at and open_until tell of a circuit that is not closed.
create table sinks (
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

-- One row per group of failures that was ever seen. A failed event without class or fingerprint counts as
-- class Error with an empty fingerprint.
create table failure_groups (
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
create unique index failure_groups_kind
  on failure_groups (fingerprint, event_type, source, coalesce(target, ''), failure_class);

-- A bulk change of dead letters: planned, then carried out by whoever holds the lease.
create table operations (
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
create index operations_planned on operations (planned_at);
-- Those with something left to do or to count: events that were replayed come to their end after a pause or a stop, too.
create index operations_running on operations (started_at)
  where state = 'running' or (state in ('paused', 'stopped', 'cancelled') and taken > delivered + failed_again + skipped + changed);

-- Its events, in insert order. claim_seq and cycle tell whether an event is still as the plan saw it; from
-- the replay on, cycle is the one that the replay closed.
create table operation_items (
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
create index operation_items_in_flight on operation_items (operation_id, place) where state = 'in_flight';

-- Who did what to which event, through which surface, and why. Append-only.
create table audit (
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
create index audit_event on audit (event_id) where event_id is not null;

-- What the patrol found stranded and healed: the latest thousand.
create table stranded (
  id integer primary key autoincrement,
  at text not null,
  event_id text not null,
  event_type text not null,
  generation integer not null,
  cause text not null
    constraint "cause must be passed_over, no_claim or blocker_gone"
      check (cause in ('passed_over', 'no_claim', 'blocker_gone'))
) strict;

-- Who patrols, until when nobody else does, and where it goes on: behind an ordering key, then behind a place in
-- outbox_due.
create table patrol (
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
insert into patrol (one) values (1);

-- One row per hour for the last weeks, written by every process that delivers: what `sluice ladder status` judges.
-- latencies is a JSON array: events delivered at their first attempt, by the time since they were published.
create table ladder_samples (
  hour text primary key not null,
  rows integer,
  latencies text not null default '[]'
    constraint "latencies must be a JSON array"
      check (case when json_valid(latencies) then json_type(latencies) = 'array' else 0 end)
) strict, without rowid;
