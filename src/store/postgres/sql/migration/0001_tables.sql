-- The tables, in their final form; the functions that work on them follow by topic. Runs in milliseconds: everything is
-- new and empty.

create schema core;

create table core.settings (
    key         text primary key,
    value       text not null,
    description text not null
);
insert into core.settings (key, value, description) values
    ('payload_max_bytes', '262144', 'a payload with more bytes, its numbers written out, is refused, whoever inserts it'),
    ('failure_history_max', '50', 'entries kept in failure_history: the first and the latest'),
    ('subscriptions_version', '0', 'changes with core.subscriptions; a settle that is based on an older one is refused'),
    ('relay', 'off', 'who carries the deliveries: off (the database), on NATS or Redis, or draining back; set by `sluice ladder relay`'),
    ('doorbell', 'always', 'when an insert notifies workers: always, or when-idle; set by `sluice db doorbell`'),
    ('retention_outbox_active', '45 days', 'events are kept at least so long; only the owner of the schema may sweep sooner'),
    ('retention_outbox_grace', '7 days', 'tombstones are kept at least so long'),
    ('retention_event_handled_active', '60 days', 'dedup rows are kept at least so long; longer than events and their tombstones'),
    ('retention_event_handled_grace', '7 days', 'and so much longer');

-- Apart from the settings, which every reader sees. No role has a right to it; core.token_secret() hands out what a
-- worker needs.
create table core.secrets (
    key         text primary key,
    value       text not null,
    description text not null
);
insert into core.secrets (key, value, description) values
    ('pull_tokens', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
     'signs the claims that workers hold over HTTP; with another value they are refused, and their events come again');

-- Events -------------------------------------------------------------------------------------------------------------

-- RFC 9562 version 7: milliseconds since the epoch, then random bits. One expression, so that the
-- planner inlines it into column defaults. (PostgreSQL has uuidv7() only from 18 on.)
create function core.uuid_v7() returns uuid
language sql volatile parallel safe
as $$
    select encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                from 1 for 6),
            52, 1), 53, 1),
        'hex')::uuid
$$;

create sequence core.outbox_seq;

-- One row per event, through its whole life.
--
-- The claim scan relies on updates being HOT: no index, predicate included, mentions a column that
-- the happy path changes (status, claimed_at, claimed_by, claim_seq, delivered_at), and the fill
-- factor leaves room in the page for the claimed and the delivered version. Keep it so.
--
-- The order of the columns is by cost. An update compares every indexed column of the old and the new
-- version, which is cheap for those at a fixed offset (and for nulls) and a walk over the tuple for the
-- others. And it is logged from the first byte that differs to the last: with the payload and the key
-- behind all that a delivery changes, that is a third of a row and not nearly all of it. (With claim_seq
-- and status at the end it would be a fifth, but then every row that a scan passes has to be taken apart
-- to its end: no gain was seen.)
--
-- Value rules are a trigger on insert and the guard (0002): a CHECK is evaluated by every update, twice
-- per event, and these columns hardly ever change.
create table core.outbox (
    id               uuid        not null default core.uuid_v7(),
    -- Insert order. The transaction's id is assigned before the number is drawn, so whoever sees a
    -- number knows that every transaction holding a smaller one is visible to pg_snapshot_xmin.
    seq              bigint      not null default case when pg_current_xact_id() is not null then nextval('core.outbox_seq') end,
    generation       bigint      not null,
    claim_seq        bigint      not null default 0,
    occurred_at      timestamptz not null default now(),
    published_at     timestamptz not null default now(),
    event_version    int         not null default 1,
    attempts         int         not null default 0,
    failure_history  jsonb       not null default '[]',
    status           text        not null default 'pending',
    channel          text        not null default 'outbox_default',
    event_type       text        not null,
    source           text        not null,
    target           text,
    content_class    text        not null default 'default',
    ordering_key     text,
    workspace_id     uuid,
    trace_context    text,
    claimed_at       timestamptz,
    claimed_by       text,
    delivered_at     timestamptz,
    -- Null: never waited; the scan finds the row once, by seq. Set: not before then; the index
    -- outbox_waiting finds it. Whatever becomes pending again gets one, now() if it is due at once.
    retry_after      timestamptz,
    -- Set while a due event waits behind an earlier one of its ordering key.
    blocked_since    timestamptz,
    first_failed_at  timestamptz,
    last_error       text,
    -- Not error_class: `split_part(last_error, ':', 1) as error_class … group by error_class` must keep
    -- meaning the alias, and GROUP BY prefers a column of that name.
    failure_class    text,
    fingerprint      text,
    deleted_at       timestamptz,
    -- The handlers that have not handled the event yet, where it has several: attempts and due time of each.
    progress         jsonb,
    -- The one scope whose workers can go on with the event. It keeps what waits for an absent context out
    -- of everybody else's way. Null, which costs an update nothing: any worker may.
    lane             text,
    -- When it failed and in which group of failures; both null unless the event is failed.
    failed_at        timestamptz,
    group_id         bigint,
    -- When its tombstone was cleared last: it is kept as long again from then on.
    restored_at      timestamptz,
    idempotency_key  text        not null,
    payload          jsonb       not null default '{}',

    constraint outbox_pkey primary key (id)
) with (
    fillfactor = 30,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);
comment on table core.outbox is 'Events through their whole life: pending, in_flight, delivered, failed';

-- New events, in insert order.
create index outbox_scan on core.outbox (generation, seq);
-- The events of an ordering key, in order.
create index outbox_ordering on core.outbox (ordering_key, seq) where ordering_key is not null;
-- What retention will tombstone next. Not by delivered_at, which a delivery writes: that is looked at row by row. published_at is
-- never null: it stands there so that no claim can use the index, which in an empty month looks as cheap as outbox_scan to it.
create index outbox_age on core.outbox (greatest(published_at, failed_at, restored_at)) where deleted_at is null and published_at is not null;
-- Tombstones, for the retention sweep.
create index outbox_tombstones on core.outbox (deleted_at) where deleted_at is not null;
-- The dead-letter queue: newest failure first, the same by group, and groups to be counted. The last one is small, as
-- equal keys are kept once: measured with a million dead letters, 7 MB and half the time of counting in the second.
create index outbox_dead on core.outbox (failed_at, seq) where failed_at is not null and deleted_at is null;
create index outbox_dead_groups on core.outbox (group_id, failed_at, seq, generation) where failed_at is not null and deleted_at is null;
create index outbox_dead_kinds on core.outbox (group_id, generation) where failed_at is not null and deleted_at is null;
-- Retries, delayed events, replays: only rows that wait pay for it.
create index outbox_waiting on core.outbox (generation, coalesce(lane, ''), retry_after) where retry_after is not null;
-- Keyed events that wait for their time or behind another one.
create index outbox_waiting_keys on core.outbox (ordering_key, seq) where ordering_key is not null and retry_after is not null;
-- Keyed events by number, for the floor of the keys. As an expression, so that no plan takes it to find the events of one key
-- in order: without statistics that looked as cheap as outbox_ordering, and read them all.
create index outbox_keyed on core.outbox ((seq + 0)) where ordering_key is not null;

-- What each handler has handled: the dedup table. Keys are compared for equality and kept together; the order of a
-- language makes each comparison dearer.
create table core.event_handled (
    handler_name    text        collate "C" not null,
    idempotency_key text        collate "C" not null,
    handled_at      timestamptz not null default now(),
    event_id        uuid,
    constraint event_handled_pkey primary key (handler_name, idempotency_key)
) with (autovacuum_vacuum_insert_scale_factor = 0.1);
comment on table core.event_handled is 'Which handler has handled which idempotency key';
-- For the retention sweep: blocks of one age lie together, so a block range index is enough.
create index event_handled_age on core.event_handled using brin (handled_at) with (pages_per_range = 16);

-- Claims -------------------------------------------------------------------------------------------------------------

-- One row per claimed batch that is not settled yet: what the reaper reads. An index on claimed_at
-- would cost every claim an index write and collapse under a held snapshot.
create table core.claims (
    -- A claim's commit does not wait for the disk. If the server forgets it, claim_seq goes back and is given out again;
    -- the batch's number is not, because it is drawn at random, so that a batch that is not in core.claims was never claimed.
    batch      bigint      primary key default 1 + floor(random() * 9007199254740991)::bigint,
    worker     text        not null,
    generation bigint      not null,
    ttl        interval    not null,
    expires_at timestamptz not null,
    seqs       bigint[]    not null,
    -- Some of them have an ordering key.
    keyed      boolean     not null default false
) with (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0,
    toast_tuple_target = 8160
);
-- A batch's list of numbers fits the page as it is; compressing it took 2 % of the server's time. (Only PostgreSQL 16
-- lets CREATE TABLE say so.)
alter table core.claims alter column seqs set storage external;
create index claims_expiry on core.claims (expires_at);

-- The marks of the scan, a row per group of workers that want the same events:
--   low       every event at or below it that the group wants was claimed once or waits for something;
--   mark      the next place for low, once every transaction up to mark_xid has ended.
-- The row with the empty name is the floor of the ordering keys: no keyed event at or below its low that somebody
-- subscribes to is new. A row may be old or missing: that costs time, never an event.
create table core.claim_cursors (
    group_key  text        primary key,
    low        bigint      not null,
    saved_at   timestamptz not null default now(),
    mark       bigint      not null default 0,
    mark_xid   bigint      not null default 0,
    generation bigint,
    interests  text[]
) with (fillfactor = 50);

-- How far the processes of a group have shared out a backlog among them. A matter of speed: it may be lost or wrong.
create table core.claim_heads (
    group_key text   primary key,
    head      bigint not null
) with (fillfactor = 10);
comment on table core.claim_heads is 'How far the processes of a group have shared out a backlog';

-- The keys of which an event is in flight. The primary key is the promise: never two of one key at once. A row appears
-- with the claim and goes with the settle, in the same transaction.
create table core.keys_in_flight (
    ordering_key text collate "C" primary key,
    event_id     uuid not null
) with (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);
comment on table core.keys_in_flight is 'Ordering keys of which an event is in flight, and which one';

-- Who delivers -------------------------------------------------------------------------------------------------------

create table core.deployments (
    generation   bigint      primary key check (generation >= 1),
    state        text        not null default 'allocated',
    note         text        not null default '',
    changed_by   text        not null default session_user,
    allocated_at timestamptz not null default now(),
    activated_at timestamptz,
    draining_at  timestamptz,
    retired_at   timestamptz,
    constraint deployments_state_known check (state in ('allocated', 'live', 'draining', 'retired'))
);
comment on table core.deployments is 'Deployment generations: allocated, live, draining, retired';

create table core.subscriptions (
    generation    bigint      not null check (generation >= 1),
    handler_name  text        not null,
    event_types   text[]      not null,
    context       text,
    channel       text,
    registered_at timestamptz not null default now(),
    -- Whose it is to withdraw: a daemon and its file (serve:…), a program (listener:…), workers that pull (pull).
    declared_by   text        not null default '',
    -- When a worker last said that it hosts the handler, to the minute.
    served_at     timestamptz not null default now(),
    primary key (generation, handler_name)
) with (fillfactor = 50);
comment on table core.subscriptions is 'Which handler of which generation wants which events';

create table core.workers (
    identity   text        primary key,
    generation bigint      not null,
    handlers   text[]      not null,
    listener   text        not null default '',
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
) with (fillfactor = 50);
comment on table core.workers is 'Worker processes and when they were last seen';

-- Where daemons deliver to, and whether each takes deliveries: one state for all daemons, which outlives them.
create table core.sinks (
    name        text        primary key,
    kind        text        not null,
    target      text        not null,
    handlers    text[]      not null,
    state       text        not null default 'active',
    changed_at  timestamptz not null default now(),
    changed_by  text        not null default '',
    reason      text        not null default '',
    -- The circuit: since when it is not closed, and until when nothing is tried. Both null: closed.
    opened_at   timestamptz,
    open_until  timestamptz,
    open_reason text        not null default '',
    declared_at timestamptz not null default now(),
    constraint sinks_state_known check (state in ('active', 'paused', 'disabled')),
    constraint sinks_circuit_whole check ((opened_at is null) = (open_until is null))
);
comment on table core.sinks is 'Sinks of the daemons: active, paused or disabled, by whom and why, and their circuits';

-- What operators see and do ------------------------------------------------------------------------------------------

-- One row per group of failures that was ever seen. Small: what varies from event to event is not in it.
create table core.failure_groups (
    id                  bigint      generated always as identity primary key,
    event_type          text        not null,
    source              text        not null,
    target              text,
    failure_class       text        not null,
    fingerprint         text        not null,
    sample_error        text        not null,
    first_seen_at       timestamptz not null default now(),
    last_seen_at        timestamptz not null default now(),  -- to the day
    replayed            bigint      not null default 0,
    acknowledged_at     timestamptz,
    acknowledged_by     text        not null default '',
    acknowledged_reason text        not null default ''
);
create unique index failure_groups_kind on core.failure_groups (fingerprint, event_type, failure_class, source, coalesce(target, ''));
comment on table core.failure_groups is 'Groups of failures: who knows about each, and how often it was replayed';

create table core.operations (
    id            uuid        primary key,
    kind          text        not null,
    state         text        not null default 'planned',
    filter        text        not null,
    to_generation bigint,
    rate          int         not null default 0 check (rate >= 0),
    canary        int         not null default 0 check (canary >= 0),
    stop_percent  int         not null default 20 check (stop_percent between 0 and 100),
    total         bigint      not null default 0,
    taken         bigint      not null default 0,
    delivered     bigint      not null default 0,
    failed_again  bigint      not null default 0,
    skipped       bigint      not null default 0,
    changed       bigint      not null default 0,
    paced_at      timestamptz,
    actor         text        not null,
    surface       text        not null,
    reason        text        not null default '',
    note          text        not null default '',
    executor      text        not null default '',
    lease_until   timestamptz,
    planned_at    timestamptz not null default now(),
    expires_at    timestamptz not null,
    started_at    timestamptz,
    ended_at      timestamptz,
    constraint operations_kind_known check (kind in ('replay', 'discard', 'restore')),
    constraint operations_state_known check (state in ('planned', 'running', 'paused', 'stopped', 'cancelled', 'finished')),
    constraint operations_replay_has_generation check (kind <> 'replay' or to_generation >= 1),
    constraint operations_add_up check (delivered + failed_again + skipped + changed <= taken and taken <= total)
);
create index operations_recent on core.operations (planned_at);
-- Those with something left to do or to count: events that were replayed come to their end after a pause or a stop, too.
create index operations_running on core.operations (started_at)
    where state = 'running' or (state in ('paused', 'stopped', 'cancelled') and taken > delivered + failed_again + skipped + changed);
comment on table core.operations is 'Bulk replays, discards and restores: plan, progress, who and why';

create table core.operation_items (
    operation_id uuid   not null references core.operations on delete cascade,
    place        bigint not null,
    event_id     uuid   not null,
    claim_seq    bigint not null,
    cycle        int    not null,
    state        text   not null default 'waiting',
    primary key (operation_id, place),
    constraint operation_items_state_known check (state in ('waiting', 'in_flight', 'delivered', 'failed_again', 'skipped', 'changed'))
);
create index operation_items_in_flight on core.operation_items (operation_id) where state = 'in_flight';
comment on table core.operation_items is 'The frozen set of each operation, in the order in which it is carried out';

create table core.audit (
    id       bigint      generated always as identity primary key,
    at       timestamptz not null default now(),
    actor    text        not null,
    surface  text        not null,
    db_user  text        not null default session_user,
    action   text        not null,
    event_id uuid,
    count    bigint      not null default 1,
    reason   text        not null default '',
    detail   jsonb       not null default '{}'
);
create index audit_event on core.audit (event_id) where event_id is not null;
comment on table core.audit is 'Who did what, through which surface and why; append-only';

-- The transaction in which a function of Sluice sets or clears tombstones at this moment, having an audit row of its own for
-- it. Written and removed by that function, so nobody ever sees a row; and a user who may not write here cannot pretend.
create table core.audited (
    xid bigint primary key
);
comment on table core.audited is 'Transactions whose changes of tombstones are audited already; empty between calls';

-- The patrol ---------------------------------------------------------------------------------------------------------

-- Where the patrol is and who walks it: one process at a time.
create table core.patrol (
    single      boolean     primary key default true check (single),
    holder      text        not null default '',
    lease_until timestamptz not null default '-infinity',
    generation  bigint      not null default 0,
    after       bigint      not null default -9223372036854775807
) with (fillfactor = 50);
insert into core.patrol default values;
comment on table core.patrol is 'Where the patrol is and which process walks it';

-- Slices of 4,096 numbers in which everything was settled when the patrol came by: walked again only after a day.
create table core.patrol_slices (
    generation bigint      not null,
    slice      bigint      not null,
    settled_at timestamptz not null default now(),
    primary key (generation, slice)
);
comment on table core.patrol_slices is 'Slices of numbers that the patrol found wholly settled';

create table core.stranded (
    id         bigint      generated always as identity primary key,
    at         timestamptz not null default now(),
    event_id   uuid        not null,
    event_type text        not null,
    generation bigint      not null,
    cause      text        not null
);
create index stranded_at on core.stranded (at);
comment on table core.stranded is 'Events that the patrol found stranded, and why; the latest 1,000';
