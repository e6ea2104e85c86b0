-- Claims that a crash of the server undid are fenced, a stretch of new events is claimed in one pass, and who withdraws a
-- subscription rings for what waited for it.
-- Functions and a default only: takes no time.

-- A claim's commit does not wait for the disk. If the server forgets it, claim_seq goes back and is given out again; the
-- batch's number is not, because it is drawn at random, so that a batch that is not in core.claims was never claimed.
alter table core.claims alter column batch drop identity if exists;
alter table core.claims alter column batch set default floor(random() * 9007199254740992)::bigint;

-- Takes the new events of a stretch that is expected to hold nothing else, as it finds them. It does not lock them
-- first, which costs as much as claiming them; whoever meets a rival (another process, an operator) gives up after
-- a moment and leaves it to core.outbox_claim, which passes over what is locked. Takes nothing when something is due, which
-- goes first, and no event with an ordering key.
create function core.outbox_claim_stretch(
    p_generation bigint,
    p_worker     text,
    p_ttl        interval,
    p_after      bigint,
    p_upto       bigint,
    p_interests  text[],
    p_handlers   text[],
    p_lanes      text[]
) returns table (
    batch           bigint,
    tid             tid,
    id              uuid,
    seq             bigint,
    claim_seq       bigint,
    attempts        int,
    event_type      text,
    event_version   int,
    occurred_at     timestamptz,
    source          text,
    target          text,
    workspace_id    uuid,
    payload         jsonb,
    idempotency_key text,
    trace_context   text,
    channel         text,
    ordering_key    text,
    claimed_at      timestamptz,
    progress        jsonb
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set enable_indexscan = on
-- Longer than making a table larger takes, which counts as well.
set lock_timeout = '20ms'
set jit = off
as $$
#variable_conflict use_column
declare
    v_batch bigint;
    v_rows  bigint;
begin
    perform set_config('synchronous_commit', 'off', true);
    -- Index outbox_waiting, once per lane.
    if exists (
        select
        from unnest(coalesce(p_lanes, array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
             lateral (
            select from core.outbox o
            where o.generation = p_generation and coalesce(o.lane, '') = l.lane and o.retry_after <= now()
              and o.status = 'pending' and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
              and (o.progress is null or core.outbox_waits_for(o.progress, p_handlers))
            order by o.retry_after
            limit 1) w) then
        return;
    end if;

    v_batch := floor(random() * 9007199254740992);
    -- Index outbox_scan.
    return query
    update core.outbox o
    set status = 'in_flight', claimed_at = now(), claimed_by = p_worker, claim_seq = o.claim_seq + 1
    where o.generation = p_generation and o.seq > p_after and o.seq <= p_upto
      and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and o.ordering_key is null
      and (p_interests is null or core.outbox_route(o) like any (p_interests))
    returning v_batch, o.ctid, o.id, o.seq, o.claim_seq, o.attempts, o.event_type, o.event_version, o.occurred_at, o.source,
        o.target, o.workspace_id, o.payload, o.idempotency_key, o.trace_context, o.channel, o.ordering_key, o.claimed_at, o.progress;
    get diagnostics v_rows = row_count;
    if v_rows = 0 then
        return;
    end if;

    insert into core.claims (batch, worker, generation, ttl, expires_at, seqs)
    values (v_batch, p_worker, p_generation, p_ttl, now() + p_ttl, case
        when v_rows = p_upto - p_after then array(select generate_series(p_after + 1, p_upto))
        else array(
            select o.seq from core.outbox o
            where o.generation = p_generation and o.seq > p_after and o.seq <= p_upto
              and o.status = 'in_flight' and o.claimed_by = p_worker and o.claimed_at = now())
        end);
end
$$;

drop function if exists core.outbox_acknowledge(tid[], uuid[], bigint[], bigint[], bigint, boolean);
drop function if exists core.outbox_settle(tid[], uuid[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[], interval[],
    timestamptz[], text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean);

-- Which of these batches the server knows nothing of: their claims were undone by a crash, or are over.
create function core.claims_forgotten(p_batches bigint[]) returns setof bigint
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
    select b.batch from unnest(p_batches) as b(batch)
    where b.batch <> all (array(select c.batch from core.claims c where c.batch = any (p_batches)))
$$;

-- Acknowledges what was delivered, under its fencing tokens. Returns the ids that were fenced; or, without having changed
-- anything, the batches among p_batches that are forgotten: call again without their events. The rows are found by
-- where the claim left them, in one scan; who they are is looked up in a hash. Measured: a scan per row, as a nested
-- loop makes it, costs a fifth more.
create function core.outbox_acknowledge(p_tids tid[], p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_done_batches bigint[],
                                        p_based_on bigint, p_durable boolean)
returns table (fenced uuid, forgotten bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_indexscan = on
set enable_hashjoin = on
set enable_mergejoin = off
set enable_nestloop = off
set enable_tidscan = on
set jit = off
as $$
declare
    v_rows bigint;
begin
    if p_based_on <> (select s.value::bigint from core.settings s where s.key = 'subscriptions_version') then
        raise exception 'the subscriptions have changed' using errcode = 'SL410';
    end if;
    return query select null::uuid, core.claims_forgotten(p_batches);
    if found then
        return;
    end if;
    -- A lost acknowledgement is a redelivery.
    if not p_durable then
        perform set_config('synchronous_commit', 'off', true);
    end if;

    update core.outbox o
    set status = 'delivered', delivered_at = now(), progress = null
    from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
    where o.ctid = any (p_tids) and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
    get diagnostics v_rows = row_count;
    if v_rows < cardinality(p_ids) then
        return query select core.outbox_acknowledge_by_id(p_ids, p_claim_seqs), null::bigint;
    end if;

    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;

-- As before, with forgotten batches told as core.outbox_acknowledge tells them. Dedup rows are recorded for those as
-- well: the effect did happen.
create function core.outbox_settle(
    p_tids           tid[],
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
    p_durable        boolean
) returns table (fenced uuid, forgotten bigint)
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

    return query select null::uuid, core.claims_forgotten(p_batches);
    if found then
        return;
    end if;

    if cardinality(p_ids) > 0 then
        return query select a.fenced, a.forgotten from core.outbox_acknowledge(p_tids, p_ids, p_claim_seqs, '{}', '{}', null, true) a;
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
                lane            = nullif(t.lane, ''),
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
        select t.id, null::bigint from unnest(p_undelivered) as t(id) where t.id not in (select m.id from moved m);
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

-- As before; a claim whose batch is forgotten is lost.
create or replace function core.outbox_heartbeat(p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_ttl interval)
returns setof uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_forgotten bigint[] := array(select core.claims_forgotten(array(select distinct b.batch from unnest(p_batches) as b(batch) where b.batch <> 0)));
begin
    update core.claims c set ttl = p_ttl where c.batch = any (p_batches) and c.ttl <> p_ttl;
    update core.outbox o
    set claimed_at = now()
    where o.ctid = any (array(
        select h.ctid from core.outbox h join unnest(p_ids, p_claim_seqs, p_batches) as t(id, claim_seq, batch) on h.id = t.id
        where h.claim_seq = t.claim_seq and h.status = 'in_flight' and t.batch <> all (v_forgotten)
        for update of h skip locked));
    return query
    select t.id from unnest(p_ids, p_claim_seqs, p_batches) as t(id, claim_seq, batch)
    where t.batch = any (v_forgotten) or not exists (
        select from core.outbox o where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight');
end
$$;

-- As before, and rings for the events that any worker may finish now.
create or replace function core.unsubscribe(p_generation bigint, p_handler text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rung bigint;
begin
    perform from core.settings where key = 'subscriptions_version' for update;
    delete from core.subscriptions where generation = p_generation and handler_name = p_handler;
    if not found then
        raise exception 'handler % has no subscription in generation %', p_handler, p_generation using errcode = 'SL404';
    end if;
    update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    -- What waits for it waits for the others only, if there are others.
    with freed as (
        update core.outbox o
        set lane = null,
            progress = (select jsonb_agg(w) from jsonb_array_elements(o.progress) as w where w ->> 'handler' <> p_handler)
        where o.generation = p_generation and o.retry_after is not null and o.status = 'pending'
          and o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler))
        returning o.channel)
    select count(pg_notify(c.channel, '')) into v_rung from (select distinct f.channel from freed f) c;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'unsubscribe', coalesce(p_reason, ''),
            jsonb_build_object('generation', p_generation, 'handler_name', p_handler));
end
$$;

revoke all on function core.outbox_claim_stretch(bigint, text, interval, bigint, bigint, text[], text[], text[]),
    core.claims_forgotten(bigint[]),
    core.outbox_acknowledge(tid[], uuid[], bigint[], bigint[], bigint[], bigint, boolean),
    core.outbox_settle(tid[], uuid[], bigint[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[], interval[], timestamptz[],
                       text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean) from public;
