-- Triage and bulk replay: when and how an event failed, kinds of failure, plans that are carried out in
-- steps.
--
-- For the operator: the two columns are added without rewriting the table. The failed events are updated once
-- (about ten seconds per 100,000), and two small indexes are built over them while writes wait: reading the
-- table takes seconds per million rows.

-- Both are null unless the event is failed; the happy path never touches them, so its updates stay HOT.
alter table core.outbox add column failed_at timestamptz;
alter table core.outbox add column cluster_id bigint;

-- One row per kind of failure that was ever seen. Small: what varies from event to event is not in it.
create table core.failure_clusters (
    id                  bigint      generated always as identity primary key,
    event_type          text        not null,
    source              text        not null,
    target              text,
    failure_class       text        not null,
    fingerprint         text        not null,
    sample_error        text        not null,
    first_seen_at       timestamptz not null default now(),
    replayed            bigint      not null default 0,
    acknowledged_at     timestamptz,
    acknowledged_by     text        not null default '',
    acknowledged_reason text        not null default ''
);
create unique index failure_clusters_kind on core.failure_clusters (fingerprint, event_type, failure_class, source, coalesce(target, ''));
comment on table core.failure_clusters is 'Kinds of failure: who knows about each, and how often it was replayed';

-- The id of a kind of failure; the first one of its kind makes the row. One transaction at a time may add
-- rows, so that two that add several never wait for each other in a circle.
create function core.failure_cluster(
    p_event_type text, p_source text, p_target text, p_class text, p_fingerprint text, p_error text
) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_class text := coalesce(p_class, 'Error');
    v_print text := coalesce(p_fingerprint, '');
    v_id    bigint;
begin
    for v_try in 1..2 loop
        select c.id into v_id from core.failure_clusters c
        where c.fingerprint = v_print and c.event_type = p_event_type and c.failure_class = v_class and c.source = p_source
          and coalesce(c.target, '') = coalesce(p_target, '');
        exit when found;
        perform pg_advisory_xact_lock(1936487787);
        insert into core.failure_clusters (event_type, source, target, failure_class, fingerprint, sample_error)
        values (p_event_type, p_source, p_target, v_class, v_print, coalesce(p_error, ''))
        on conflict do nothing
        returning id into v_id;
        exit when found;
    end loop;
    return v_id;
end
$$;

-- For inserts that leave something out: a column default cannot refer to another column.
create or replace function core.outbox_default_key() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    new.idempotency_key := coalesce(new.idempotency_key, new.id::text);
    if new.status = 'failed' then
        new.failed_at := coalesce(new.failed_at, now());
        new.cluster_id := core.failure_cluster(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error);
    else
        new.failed_at := null;
        new.cluster_id := null;
    end if;
    return new;
end
$$;
drop trigger outbox_default_key on core.outbox;
create trigger outbox_default_key
    before insert on core.outbox
    for each row when (new.idempotency_key is null or new.status = 'failed' or new.failed_at is not null or new.cluster_id is not null)
    execute function core.outbox_default_key();

create or replace function core.outbox_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.id <> old.id or new.seq <> old.seq or new.idempotency_key <> old.idempotency_key or new.claim_seq < old.claim_seq then
        raise exception 'event %: id, seq and idempotency_key never change, and claim_seq never falls', old.id using errcode = 'SL409';
    elsif core.outbox_complaint(new) is not null then
        raise exception using errcode = '23514', message = core.outbox_complaint(new);
    end if;

    if new.status is distinct from old.status then
        case
            when (old.status, new.status) = ('pending', 'in_flight') then
                if new.claim_seq <> old.claim_seq + 1 then
                    raise exception 'event %: a claim must raise claim_seq by one', old.id using errcode = 'SL409';
                end if;
            when (old.status, new.status) in (('in_flight', 'delivered'), ('in_flight', 'failed'), ('delivered', 'failed')) then
                null;
            when (old.status, new.status) in (('in_flight', 'pending'), ('failed', 'pending')) then
                if new.retry_after is null then
                    raise exception 'event %: what becomes pending again needs a retry_after', old.id using errcode = 'SL409';
                elsif old.status = 'failed' and (old.deleted_at is not null or new.failure_history = old.failure_history) then
                    raise exception 'event %: a failed event returns to pending only by core.outbox_replay', old.id
                        using errcode = 'SL409';
                end if;
            else
                raise exception 'event %: illegal transition % -> %', old.id, old.status, new.status
                    using errcode = 'SL409',
                          hint = 'legal: pending -> in_flight -> delivered | failed | pending, failed -> pending by replay';
        end case;
    end if;

    if new.deleted_at is distinct from old.deleted_at then
        if old.deleted_at is null and new.status in ('pending', 'in_flight') then
            raise exception 'event %: only a failed or delivered event can be tombstoned, this one is %', old.id, old.status
                using errcode = 'SL409';
        end if;
        if current_setting('sluice.audited', true) is distinct from 'on' then
            insert into core.audit (actor, surface, action, event_id, reason)
            values ('sql-direct', 'sql', case when new.deleted_at is null then 'restore' else 'discard' end, new.id,
                    'by an UPDATE of deleted_at');
        end if;
    end if;

    -- Failed, or no longer failed, by plain SQL: the dead-letter queue has to know it.
    if new.status = 'failed' and (new.failed_at is null or new.cluster_id is null) then
        update core.outbox
        set failed_at = coalesce(new.failed_at, now()),
            cluster_id = core.failure_cluster(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error)
        where id = new.id;
    elsif new.status <> 'failed' and (new.failed_at is not null or new.cluster_id is not null) then
        update core.outbox set failed_at = null, cluster_id = null where id = new.id;
    end if;

    if new.ordering_key is not null and new.status in ('delivered', 'failed') and new.status <> old.status then
        perform core.outbox_unblock_key(old.ordering_key, old.seq);
    end if;
    return null;
end
$$;

-- claimed_at is the best that older rows know of the time of their failure.
update core.outbox o
set failed_at = coalesce(o.claimed_at, o.first_failed_at, o.published_at),
    cluster_id = core.failure_cluster(o.event_type, o.source, o.target, o.failure_class, o.fingerprint, o.last_error)
where o.status = 'failed';

-- The dead-letter queue: newest failure first, the same by kind, and kinds to be counted. The last one is small, as
-- equal keys are kept once: measured with a million dead letters, 7 MB and half the time of counting in the second.
create index outbox_dead on core.outbox (failed_at, seq) where failed_at is not null and deleted_at is null;
create index outbox_dead_clusters on core.outbox (cluster_id, failed_at, seq, generation) where failed_at is not null and deleted_at is null;
create index outbox_dead_kinds on core.outbox (cluster_id, generation) where failed_at is not null and deleted_at is null;
drop index core.outbox_failing;

-- The part of a filter that a kind of failure answers.
create function core.cluster_matches(p_cluster core.failure_clusters, p_filter jsonb) returns boolean
language sql stable parallel safe
as $$
    select (p_filter ->> 'event_type' is null or p_cluster.event_type = p_filter ->> 'event_type')
       and (p_filter ->> 'type_prefix' is null or starts_with(p_cluster.event_type, p_filter ->> 'type_prefix'))
       and (p_filter ->> 'source' is null or p_cluster.source = p_filter ->> 'source')
       and (p_filter ->> 'target' is null or p_cluster.target = p_filter ->> 'target')
       -- `timeout` finds TimeoutError.
       and (p_filter ->> 'error_class' is null
            or lower(p_cluster.failure_class) in (lower(p_filter ->> 'error_class'), lower(p_filter ->> 'error_class') || 'error'))
       and (p_filter ->> 'fingerprint' is null or p_cluster.fingerprint = p_filter ->> 'fingerprint')
$$;

-- The rest of it, for a dead letter.
create function core.dead_matches(p_event core.outbox, p_filter jsonb) returns boolean
language sql stable parallel safe
as $$
    select (p_filter ->> 'id' is null or p_event.id = (p_filter ->> 'id')::uuid)
       and (p_filter ->> 'generation' is null or p_event.generation = (p_filter ->> 'generation')::bigint)
       and (p_filter ->> 'workspace_id' is null or p_event.workspace_id = (p_filter ->> 'workspace_id')::uuid)
       and (p_filter ->> 'ordering_key' is null or p_event.ordering_key = p_filter ->> 'ordering_key')
       and (p_filter ->> 'text' is null or strpos(lower(p_event.last_error), lower(p_filter ->> 'text')) > 0)
       and (p_filter ->> 'since' is null or p_event.failed_at >= (p_filter ->> 'since')::timestamptz)
       and (p_filter ->> 'until' is null or p_event.failed_at < (p_filter ->> 'until')::timestamptz)
$$;

-- Adds the closed cycle of an event to its history. Bounded: the first entry and the latest ones stay.
create function core.failure_history_after(
    p_event core.outbox, p_new_generation bigint, p_actor text, p_reason text, p_operation uuid, p_most int
) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when jsonb_array_length(h.entries) <= p_most then h.entries
                else (select jsonb_agg(e.entry order by e.place) from jsonb_array_elements(h.entries) with ordinality as e(entry, place)
                      where e.place = 1 or e.place > jsonb_array_length(h.entries) - p_most + 1) end
    from (select p_event.failure_history || (jsonb_build_object(
        'cycle', coalesce((p_event.failure_history -> -1 ->> 'cycle')::int, 0) + 1,
        'attempts', p_event.attempts,
        'last_error', p_event.last_error,
        'first_failed_at', p_event.first_failed_at,
        'failed_at', p_event.claimed_at,
        'replayed_at', now(),
        'replayed_by', p_actor,
        'error_class', p_event.failure_class,
        'fingerprint', p_event.fingerprint,
        'from_generation', p_event.generation,
        'to_generation', p_new_generation,
        'reason', nullif(p_reason, '')) || case when p_operation is null then '{}'::jsonb
                                             else jsonb_build_object('operation_id', p_operation) end) as entries) h
$$;

-- failed -> pending for events that the caller has locked and looked at.
create function core.outbox_reset(p_ids uuid[], p_new_generation bigint, p_actor text, p_reason text, p_operation uuid)
returns table (id uuid, cycle int, attempts int, from_generation bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_most int := greatest(coalesce((select s.value::int from core.settings s where s.key = 'failure_history_max'), 50), 2);
begin
    perform from core.failure_clusters c
    where c.id in (select o.cluster_id from core.outbox o where o.id = any (p_ids)) order by c.id for update;
    update core.failure_clusters c
    set replayed = c.replayed + n.events
    from (select o.cluster_id, count(*) as events from core.outbox o where o.id = any (p_ids) group by o.cluster_id) n
    where c.id = n.cluster_id;

    return query
    with old as (
        select o.id, o.attempts, o.generation, coalesce((o.failure_history -> -1 ->> 'cycle')::int, 0) + 1 as cycle
        from core.outbox o where o.id = any (p_ids)),
    moved as (
        update core.outbox o
        set status = 'pending', generation = p_new_generation, attempts = 0, last_error = null, failure_class = null, fingerprint = null,
            first_failed_at = null, failed_at = null, cluster_id = null, claimed_at = null, claimed_by = null, retry_after = now(),
            delivered_at = null, progress = null, lane = '',
            failure_history = core.failure_history_after(o, p_new_generation, p_actor, p_reason, p_operation, v_most),
            channel = case when o.channel = 'outbox_gen_' || o.generation or o.channel like 'outbox\_gen\_' || o.generation || '\_%'
                           then 'outbox_gen_' || p_new_generation || substr(o.channel, length('outbox_gen_' || o.generation) + 1)
                           else o.channel end
        where o.id = any (p_ids)
        returning o.id)
    select old.id, old.cycle, old.attempts, old.generation from old join moved on moved.id = old.id;
    perform pg_notify(c.channel, case when cardinality(p_ids) = 1 then p_ids[1]::text else '' end)
    from (select distinct o.channel from core.outbox o where o.id = any (p_ids)) c;
end
$$;

-- Closes the failed cycle of an event and makes it pending again, in place. Returns what it did.
create or replace function core.outbox_replay_as(
    p_event_id       uuid,
    p_new_generation bigint,
    p_replayed_by    text,
    p_surface        text,
    p_reason         text
) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event core.outbox;
    v_actor text := coalesce(nullif(p_replayed_by, ''), 'sql-direct');
    v_done  record;
begin
    if p_new_generation is null or p_new_generation < 1 then
        raise exception 'p_new_generation: expected 1 or more, got %', coalesce(p_new_generation::text, 'null') using errcode = 'SL422';
    end if;
    select * into v_event from core.outbox where id = p_event_id for update;
    if not found then
        raise exception 'event % does not exist', coalesce(p_event_id::text, 'null') using errcode = 'SL404';
    elsif v_event.status <> 'failed' then
        raise exception 'event % is %, only a failed event can be replayed', p_event_id, v_event.status using errcode = 'SL409';
    elsif v_event.deleted_at is not null then
        raise exception 'event % is discarded: restore it first', p_event_id using errcode = 'SL409';
    end if;
    select * into v_done from core.outbox_reset(array[p_event_id], p_new_generation, v_actor, p_reason, null);
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (v_actor, p_surface, 'replay', p_event_id, coalesce(p_reason, ''),
            jsonb_build_object('cycle', v_done.cycle, 'from_generation', v_done.from_generation, 'to_generation', p_new_generation));
    return jsonb_build_object('event_id', p_event_id, 'status', 'pending', 'cycle', v_done.cycle, 'attempts', v_done.attempts,
                              'from_generation', v_done.from_generation, 'to_generation', p_new_generation, 'replayed_by', v_actor);
end
$$;

-- As before, and it tells the dead-letter queue.
create or replace function core.outbox_settle(
    p_tids           tid[],
    p_ids            uuid[],
    p_claim_seqs     bigint[],
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
    p_durable        boolean
) returns setof uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set enable_indexscan = on
set enable_tidscan = on
set jit = off
as $$
declare
    v_rows bigint;
begin
    if p_based_on <> (select s.value::bigint from core.settings s where s.key = 'subscriptions_version') then
        raise exception 'the subscriptions have changed' using errcode = 'SL410';
    end if;
    -- A lost acknowledgement is a redelivery; a lost failure or dedup row would be a broken promise.
    if not p_durable and cardinality(p_undelivered) = 0 and cardinality(p_handlers) = 0 then
        perform set_config('synchronous_commit', 'off', true);
    end if;

    if cardinality(p_handlers) > 0 then
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select h.handler, h.key, h.event
        from unnest(p_handlers, p_handled_keys, p_handled_events) as h(handler, key, event)
        on conflict do nothing;
    end if;

    if cardinality(p_ids) > 0 then
        update core.outbox o
        set status = 'delivered', delivered_at = now(), progress = null
        from unnest(p_tids, p_ids, p_claim_seqs) as t(tid, id, claim_seq)
        where o.ctid = t.tid and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
        get diagnostics v_rows = row_count;
        if v_rows < cardinality(p_ids) then
            -- The tuple moved (a heartbeat), the locator was unknown, or the claim is lost.
            update core.outbox o
            set status = 'delivered', delivered_at = now(), progress = null
            from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
            where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
            -- Delivered at this transaction's own time: by this call.
            return query
            select t.id from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
            where not exists (
                select from core.outbox o
                where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'delivered' and o.delivered_at = now());
        end if;
    end if;

    if cardinality(p_undelivered) > 0 then
        return query
        with moved as (
            update core.outbox o
            set status          = t.next,
                attempts        = o.attempts + t.counted::int,
                last_error      = case when t.recorded then t.last_error else o.last_error end,
                failure_class   = case when t.recorded then t.failure_class else o.failure_class end,
                fingerprint     = case when t.recorded then t.fingerprint else o.fingerprint end,
                first_failed_at = case when t.recorded then coalesce(o.first_failed_at, now()) else o.first_failed_at end,
                retry_after     = case when t.next = 'pending' then coalesce(t.not_before, now() + t.delay) end,
                progress        = t.progress,
                lane            = t.lane,
                failed_at       = case when t.next = 'failed' then now() end,
                cluster_id      = case when t.next = 'failed' then core.failure_cluster(
                    o.event_type, o.source, o.target,
                    case when t.recorded then t.failure_class else o.failure_class end,
                    case when t.recorded then t.fingerprint else o.fingerprint end,
                    case when t.recorded then t.last_error else o.last_error end) end,
                claimed_at      = case when t.next = 'failed' then o.claimed_at end,
                claimed_by      = case when t.next = 'failed' then o.claimed_by end
            from unnest(p_undelivered, p_undelivered_claim_seqs, p_next, p_counted, p_recorded, p_delays, p_not_before, p_last_errors,
                        p_failure_classes, p_fingerprints, p_progress, p_lanes)
                as t(id, claim_seq, next, counted, recorded, delay, not_before, last_error, failure_class, fingerprint, progress, lane)
            where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
            returning o.id)
        select t.id from unnest(p_undelivered) as t(id) where t.id not in (select m.id from moved m);
        -- What somebody else can go on with at once is worth a ring.
        if exists (
            select from unnest(p_next, p_delays, p_not_before) as t(next, delay, not_before)
            where t.next = 'pending' and coalesce(t.not_before, now() + t.delay) <= now() + interval '50 milliseconds') then
            perform pg_notify(c.channel, '') from (select distinct o.channel from core.outbox o where o.id = any (p_undelivered)) c;
        end if;
    end if;

    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;

-- Marks every group with this fingerprint as known, or not any more; returns how many there are.
create function core.failure_acknowledge(p_fingerprint text, p_known boolean, p_actor text, p_surface text, p_reason text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_groups bigint;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    end if;
    update core.failure_clusters
    set acknowledged_at = case when p_known then now() end,
        acknowledged_by = case when p_known then p_actor else '' end,
        acknowledged_reason = case when p_known then p_reason else '' end
    where fingerprint = p_fingerprint;
    get diagnostics v_groups = row_count;
    if v_groups = 0 then
        raise exception 'nothing has failed with the fingerprint %', p_fingerprint using errcode = 'SL404';
    end if;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, case when p_known then 'acknowledge' else 'unacknowledge' end, v_groups, p_reason,
            jsonb_build_object('fingerprint', p_fingerprint));
    return v_groups;
end
$$;

revoke all on function core.failure_cluster(text, text, text, text, text, text), core.cluster_matches(core.failure_clusters, jsonb),
    core.dead_matches(core.outbox, jsonb), core.failure_history_after(core.outbox, bigint, text, text, uuid, int),
    core.outbox_reset(uuid[], bigint, text, text, uuid), core.failure_acknowledge(text, boolean, text, text, text) from public;
