-- The tables. Runs in milliseconds: everything is new and empty.

create schema core;

create table core.settings (
    key         text primary key,
    value       text not null,
    description text not null
);
insert into core.settings (key, value, description) values
    ('payload_max_bytes', '262144', 'core.outbox_publish refuses a larger payload'),
    ('failure_history_max', '50', 'entries kept in failure_history: the first and the latest');

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
-- The order of the columns is by cost: an update compares every indexed column of the old and the new
-- version, which is cheap for those at a fixed offset (and for nulls) and a walk over the tuple for the
-- others. Value rules other than that of status are a trigger on insert (0002): a CHECK is evaluated by
-- every update as well, and these columns never change.
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
    idempotency_key  text        not null,
    payload          jsonb       not null default '{}',
    ordering_key     text,
    workspace_id     uuid,
    trace_context    text,
    claimed_at       timestamptz,
    claimed_by       text,
    delivered_at     timestamptz,
    -- Null: never waited; the scan finds the row once, by seq. Set: not before then; the due index
    -- finds it. Whatever becomes pending again gets one, now() if it is due at once.
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

    constraint outbox_pkey primary key (id),
    constraint outbox_status_known check (status in ('pending', 'in_flight', 'delivered', 'failed'))
) with (
    fillfactor = 30,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

-- New events, in insert order.
create index outbox_scan on core.outbox (generation, seq);
-- Retries, delayed events, replays: only rows that wait pay for it.
create index outbox_due on core.outbox (generation, retry_after) where retry_after is not null;
-- The predecessor of a keyed event, and its successor.
create index outbox_ordering on core.outbox (ordering_key, seq) where ordering_key is not null;
-- Replayed events of a key: the only ones that can become pending behind later ones.
create index outbox_replayed_keys on core.outbox (ordering_key) where ordering_key is not null and failure_history <> '[]';
-- The dead-letter queue; only rows that ever failed pay for it.
create index outbox_failing on core.outbox (first_failed_at) where first_failed_at is not null;
-- What retention will tombstone next, and lists by time.
create index outbox_age on core.outbox (occurred_at) where deleted_at is null;
-- Tombstones, for the retention sweep.
create index outbox_tombstones on core.outbox (deleted_at) where deleted_at is not null;

-- What each handler has handled: the dedup table.
create table core.event_handled (
    handler_name    text        not null,
    idempotency_key text        not null,
    handled_at      timestamptz not null default now(),
    event_id        uuid,
    constraint event_handled_pkey primary key (handler_name, idempotency_key)
) with (autovacuum_vacuum_insert_scale_factor = 0.1);
-- For the retention sweep: blocks of one age lie together, so a block range index is enough.
create index event_handled_age on core.event_handled using brin (handled_at) with (pages_per_range = 16);

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

-- One row per claimed batch that is not settled yet: what the reaper reads. An index on claimed_at
-- would cost every claim an index write and collapse under a held snapshot.
create table core.claims (
    batch      bigint      generated always as identity primary key,
    worker     text        not null,
    generation bigint      not null,
    ttl        interval    not null,
    expires_at timestamptz not null,
    seqs       bigint[]    not null
) with (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);
create index claims_expiry on core.claims (expires_at);

-- How far each group of workers has scanned. A row may be old or missing: that costs time, never an
-- event.
create table core.claim_cursors (
    group_key text        primary key,
    low       bigint      not null,
    saved_at  timestamptz not null default now()
) with (fillfactor = 50);

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

comment on table core.outbox is 'Events through their whole life: pending, in_flight, delivered, failed';
comment on table core.event_handled is 'Which handler has handled which idempotency key';
comment on table core.deployments is 'Deployment generations: allocated, live, draining, retired';
comment on table core.audit is 'Who did what, through which surface and why; append-only';
