-- The attempt log: what each attempt at an event did, beside the event. Runs in milliseconds: the table is new and empty, the
-- rest are functions. Claims and acknowledgements do not touch it: a first success leaves no row.

create table core.attempts (
    event_id     uuid        not null,
    -- Counts from 1 for each event, over all replays. The first and the latest are kept (settings.attempts_kept).
    number       int         not null check (number >= 1),
    -- The claim that it was made under; 0: by a consumer of a broker.
    claim_seq    bigint      not null,
    -- How often the event had been replayed by then.
    replay       int         not null default 0,
    -- Null: not known, as of a claim that expired with several handlers.
    handler_name text,
    worker       text        not null,
    started_at   timestamptz not null,
    duration_us  bigint      not null,
    outcome      text        not null check (outcome in ('handled', 'failed', 'expired')),
    -- What the receiver of a delivery answered, where there is one.
    status_code  int,
    error        text,
    response     text,
    trace_id     text,
    recorded_at  timestamptz not null default now(),
    primary key (event_id, number)
);
-- Retention: the rows of events that are gone.
create index attempts_age on core.attempts (recorded_at);
comment on table core.attempts is 'What each attempt at an event did: the first and the latest; deleted with the event';

insert into core.settings (key, value, description)
values ('attempts_kept', '20', 'entries of the attempt log kept for an event: the first and the latest');

-- Adds attempts to the log, but those of the events in p_except, and forgets what is too much for an event. In the caller's
-- transaction: whoever settles holds the rows, so two never number one event at once.
create function core.attempts_record(p_attempts jsonb, p_except uuid[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
    v_most int := greatest(coalesce((select s.value::int from core.settings s where s.key = 'attempts_kept'), 20), 2);
begin
    insert into core.attempts (event_id, number, claim_seq, replay, handler_name, worker, started_at, duration_us, outcome, status_code,
                               error, response, trace_id)
    select o.id, coalesce((select max(l.number) from core.attempts l where l.event_id = o.id), 0)
                 + row_number() over (partition by o.id order by a.place),
           (a.v ->> 'claim_seq')::bigint, core.last_cycle(o.failure_history), nullif(a.v ->> 'handler_name', ''), a.v ->> 'worker',
           (a.v ->> 'started_at')::timestamptz, (a.v ->> 'duration_us')::bigint, a.v ->> 'outcome',
           nullif((a.v ->> 'status_code')::int, 0), nullif(a.v ->> 'error', ''), nullif(a.v ->> 'response', ''),
           coalesce(nullif(a.v ->> 'trace_id', ''), substr(o.trace_context, 4, 32))
    from jsonb_array_elements(p_attempts) with ordinality as a(v, place)
    join core.outbox o on o.id = (a.v ->> 'event_id')::uuid
    where o.id <> all (p_except);
    delete from core.attempts t
    using (select l.event_id, max(l.number) as latest from core.attempts l
           where l.event_id in (select (a.v ->> 'event_id')::uuid from jsonb_array_elements(p_attempts) as a(v))
           group by l.event_id) as own
    where t.event_id = own.event_id and t.number > 1 and t.number <= own.latest - (v_most - 1);
end
$$;

-- core.outbox_settle that also writes down what was attempted. Of a fenced claim nothing: who took the event back has recorded
-- that it expired. Nor when batches are forgotten: the call is repeated without them.
create function core.outbox_settle_recorded(
    p_tids           tid[],
    p_from           timestamptz,
    p_to             timestamptz,
    p_ids            uuid[],
    p_claim_seqs     bigint[],
    p_batches        bigint[],
    p_done_batches   bigint[],
    p_undelivered    uuid[],
    p_undelivered_claim_seqs bigint[],
    p_next           text[],
    p_counted        boolean[],
    p_recorded       boolean[],
    p_delays         interval[],
    p_not_before     timestamptz[],
    p_last_errors    text[],
    p_failure_classes  text[],
    p_fingerprints   text[],
    p_progress       jsonb[],
    p_lanes          text[],
    p_handlers       text[],
    p_handled_keys   text[],
    p_handled_events uuid[],
    p_based_on       bigint,
    p_durable        boolean,
    p_attempts       jsonb
) returns table (fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row       record;
    v_fenced    uuid[] := '{}';
    v_forgotten boolean := false;
begin
    for v_row in
        select * from core.outbox_settle(
            p_tids, p_from, p_to, p_ids, p_claim_seqs, p_batches, p_done_batches, p_undelivered, p_undelivered_claim_seqs, p_next, p_counted,
            p_recorded, p_delays, p_not_before, p_last_errors, p_failure_classes, p_fingerprints, p_progress, p_lanes, p_handlers,
            p_handled_keys, p_handled_events, p_based_on, p_durable)
    loop
        v_fenced := v_fenced || v_row.fenced;
        v_forgotten := v_forgotten or v_row.forgotten is not null;
        fenced := v_row.fenced;
        forgotten := v_row.forgotten;
        next_generation := v_row.next_generation;
        next_seq := v_row.next_seq;
        return next;
    end loop;
    if not v_forgotten then
        perform core.attempts_record(p_attempts, array_remove(v_fenced, null));
    end if;
end
$$;

-- core.relay_report that also writes down what was attempted: p_attempts has an array of attempts for each report, or null. Those
-- of reports that are done are kept.
create function core.relay_report_recorded(
    p_ids uuid[], p_replays bigint[], p_handlers text[], p_keys text[], p_handled boolean[], p_failed boolean[], p_attempts bigint[],
    p_errors text[], p_classes text[], p_fingerprints text[], p_progress jsonb[], p_log jsonb[]
) returns setof text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_answers text[];
begin
    select array_agg(r.answer order by r.place) into v_answers
    from core.relay_report(p_ids, p_replays, p_handlers, p_keys, p_handled, p_failed, p_attempts, p_errors, p_classes, p_fingerprints,
                           p_progress) with ordinality as r(answer, place);
    -- A handler that has handled it holds no lock yet.
    perform from core.outbox o where o.id = any (p_ids) order by o.id for update;
    for i in 1 .. cardinality(p_ids) loop
        if v_answers[i] = 'done' and p_log[i] is not null then
            perform core.attempts_record(p_log[i], '{}');
        end if;
    end loop;
    return query select a from unnest(v_answers) with ordinality as t(a, place) order by t.place;
end
$$;

-- Forgets attempts older than p_age whose event is gone: with its partition, or by hand. Returns how many, at most p_limit.
create function core.attempts_sweep(p_age interval, p_limit int) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rows bigint;
begin
    -- Index attempts_age, and outbox_pkey once per row: as a value, so that no plan reads the whole table for it.
    delete from core.attempts a
    where a.ctid = any (array(
        select l.ctid from core.attempts l
        where l.recorded_at <= now() - p_age and (select o.id from core.outbox o where o.id = l.event_id) is null
        limit p_limit for update skip locked));
    get diagnostics v_rows = row_count;
    return v_rows;
end
$$;

-- One bounded batch of retention, audited where it took something. An event is as old as the latest of: when it was
-- published, delivered, failed, restored. Its business time, which the publisher chooses, has no part in it. A dedup row
-- stays while its event is there, so it outlives every replay. The attempt log goes with its event.
create or replace function core.outbox_sweep(
    p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval, p_limit int, p_dry_run boolean,
    p_actor text default null, p_surface text default 'sql', p_reason text default null
) returns table (tombstoned bigint, deleted bigint, failed bigint, handled bigint, more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids    uuid[];
    v_failed bigint;
    v_left_behind bigint := 0;
begin
    perform core.retention_check(p_active, p_grace, p_handled_active, p_handled_grace);
    if coalesce(p_limit < 1, true) then
        raise exception 'p_limit: expected 1 or more, got %', coalesce(p_limit::text, 'null') using errcode = 'SL422';
    end if;

    -- Before the events: what belongs to one that this call deletes stays until the next, so that a dry run counts the same.
    -- Index event_handled_age, and outbox_pkey once per row: as a value, so that no plan reads the whole table for it.
    if p_dry_run then
        select count(*) into handled from (
            select from core.event_handled h
            where h.handled_at <= now() - p_handled_active - p_handled_grace
              and (select o.id from core.outbox o where o.id = h.event_id) is null
            limit p_limit) c;
    else
        delete from core.event_handled h
        where h.ctid = any (array(
            select e.ctid from core.event_handled e
            where e.handled_at <= now() - p_handled_active - p_handled_grace
              and (select o.id from core.outbox o where o.id = e.event_id) is null
            limit p_limit for update skip locked));
        get diagnostics handled = row_count;
    end if;

    -- Index outbox_tombstones.
    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.status = 'failed') into v_ids, failed
    from (select o.id, o.status from core.outbox o
          where o.deleted_at <= now() - p_grace and o.status in ('delivered', 'failed')
          order by o.deleted_at limit p_limit for update skip locked) t;
    deleted := cardinality(v_ids);
    if not p_dry_run then
        delete from core.outbox o where o.id = any (v_ids);
        delete from core.attempts a where a.event_id = any (v_ids);
        v_left_behind := core.attempts_sweep(p_active + p_grace, p_limit);
    end if;

    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.failed) into v_ids, v_failed from core.sweep_next(p_active, p_limit) t;
    tombstoned := cardinality(v_ids);
    failed := failed + v_failed;
    if not p_dry_run then
        insert into core.audited values (pg_current_xact_id()::text::bigint);
        update core.outbox o set deleted_at = now() where o.id = any (v_ids);
        delete from core.audited where xid = pg_current_xact_id()::text::bigint;
    end if;
    more := greatest(deleted, tombstoned, handled, v_left_behind) >= p_limit;

    if not p_dry_run and greatest(deleted, tombstoned, handled) > 0 then
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'retention.sweep', deleted + tombstoned, coalesce(p_reason, ''),
                jsonb_build_object('outbox_tombstoned', tombstoned, 'outbox_deleted', deleted, 'failed_swept', failed,
                                   'handled_deleted', handled));
    end if;
    return next;
end
$$;

revoke all on function core.attempts_record(jsonb, uuid[]), core.attempts_sweep(interval, int),
    core.outbox_settle_recorded(tid[], timestamptz, timestamptz, uuid[], bigint[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[],
        interval[], timestamptz[], text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean, jsonb),
    core.relay_report_recorded(uuid[], bigint[], text[], text[], boolean[], boolean[], bigint[], text[], text[], text[], jsonb[], jsonb[]) from public;
