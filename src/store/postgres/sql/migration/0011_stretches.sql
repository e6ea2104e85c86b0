-- Less work per delivered event: claims take stretches of the backlog that no other worker of the process looks at,
-- acknowledgements find their rows in one scan, and a handler's dedup rows are inserted without a probe.
-- Functions only: takes no time.

drop function if exists core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[]);
drop function if exists core.effect_enter(text, uuid[], bigint[], text[]);

-- Takes up to p_limit events: with p_due those that are due first, then new ones above p_after, up to p_upto where that
-- is given. `head` is the highest seq that was looked at, all of p_upto when there was room for more; it is returned on
-- a row without an id when nothing could be taken. `top` is the highest seq of the generation, where the claim had
-- reason to ask: without p_upto, to tell how much lies ahead.
create function core.outbox_claim(
    p_generation bigint,
    p_worker     text,
    p_limit      int,
    p_ttl        interval,
    p_after      bigint,
    p_upto       bigint,
    p_interests  text[],
    p_handlers   text[],
    p_lanes      text[],
    p_due        boolean
) returns table (
    head            bigint,
    top             bigint,
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
set enable_tidscan = on
set jit = off
as $$
#variable_conflict use_column
declare
    v_take   tid[] := '{}';
    v_seqs   bigint[] := '{}';
    v_fresh  tid[];
    v_fresh_seqs bigint[];
    v_parked tid[];
    v_head   bigint;
    v_batch  bigint;
    v_top    bigint;
    v_room   int;
begin
    -- A lost claim is a redelivery, so its commit need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);

    if p_due then
        -- Index outbox_waiting, once per lane.
        select coalesce(array_agg(c.tid) filter (where not c.blocked), '{}'), array_agg(c.seq) filter (where not c.blocked),
               array_agg(c.tid) filter (where c.blocked)
        into v_take, v_seqs, v_parked
        from (
            select w.tid, w.seq, w.blocked
            from unnest(coalesce(p_lanes, array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
                 lateral (
                select o.ctid as tid, o.seq, o.retry_after,
                       o.ordering_key is not null
                           and core.outbox_key_blocker(o.ordering_key, o.seq, o.failure_history <> '[]') is not null as blocked
                from core.outbox o
                where o.generation = p_generation and coalesce(o.lane, '') = l.lane and o.retry_after <= now()
                  and o.status = 'pending' and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                  and (o.progress is null or core.outbox_waits_for(o.progress, p_handlers))
                order by o.retry_after
                limit p_limit
                for update of o skip locked) w
            order by w.retry_after
            limit p_limit) c;
        if v_parked is not null then
            update core.outbox o
            set retry_after = now() + interval '1 second', blocked_since = coalesce(o.blocked_since, now())
            where o.ctid = any (v_parked);
        end if;
    end if;

    v_room := p_limit - cardinality(v_take);
    if v_room > 0 then
        if p_interests is not null and p_upto is null then
            -- Read before the scan: when the scan ends early, everything up to here was looked at.
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
        end if;
        -- Index outbox_scan. What an earlier event of its key blocks is passed over: the trigger
        -- outbox_unblock_key makes it due. Only when that earlier event is in flight may its end be
        -- under way unseen; then the later one is parked for a second as well.
        select array_agg(c.tid) filter (where c.blocker is null), array_agg(c.seq) filter (where c.blocker is null),
               array_agg(c.tid) filter (where c.blocker = 'in_flight'), max(c.seq)
        into v_fresh, v_fresh_seqs, v_parked, v_head
        from (
            select o.ctid as tid, o.seq,
                   case when o.ordering_key is not null then core.outbox_key_blocker(o.ordering_key, o.seq, false) end as blocker
            from core.outbox o
            where o.generation = p_generation and o.seq > p_after and o.seq <= coalesce(p_upto, 9223372036854775807)
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
            order by o.seq
            limit v_room
            for update of o skip locked) c;
        if coalesce(cardinality(v_fresh), 0) + coalesce(cardinality(v_parked), 0) < v_room then
            v_head := greatest(v_head, p_upto, v_top, p_after);
        elsif p_upto is null and v_top is null then
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
        end if;
        v_take := v_take || v_fresh;
        v_seqs := v_seqs || v_fresh_seqs;
        if v_parked is not null then
            update core.outbox o
            set retry_after = now() + interval '1 second', blocked_since = now()
            where o.ctid = any (v_parked);
        end if;
    end if;

    if cardinality(v_take) = 0 then
        if v_head is not null then
            head := v_head;
            top := v_top;
            return next;
        end if;
        return;
    end if;

    insert into core.claims (worker, generation, ttl, expires_at, seqs)
    values (p_worker, p_generation, p_ttl, now() + p_ttl, v_seqs)
    returning core.claims.batch into v_batch;

    return query
    update core.outbox o
    set status = 'in_flight', claimed_at = now(), claimed_by = p_worker, claim_seq = o.claim_seq + 1,
        retry_after = null, blocked_since = null
    where o.ctid = any (v_take)
    returning v_head, v_top, v_batch, o.ctid, o.id, o.seq, o.claim_seq, o.attempts, o.event_type, o.event_version, o.occurred_at, o.source,
        o.target, o.workspace_id, o.payload, o.idempotency_key, o.trace_context, o.channel, o.ordering_key, o.claimed_at, o.progress;
end
$$;

-- Acknowledges what was delivered, under its fencing tokens; returns the ids that were fenced. The rows are found by
-- where the claim left them, in one scan; who they are is looked up in a hash. Measured: a scan per row, as a nested
-- loop makes it, costs a fifth more.
create function core.outbox_acknowledge(p_tids tid[], p_ids uuid[], p_claim_seqs bigint[], p_done_batches bigint[], p_based_on bigint,
                                        p_durable boolean)
returns setof uuid
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
        return query select core.outbox_acknowledge_by_id(p_ids, p_claim_seqs);
    end if;

    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;

-- For rows that are no longer where the claim left them (a heartbeat moved them, the place was not known), and to
-- tell which claims were lost.
create function core.outbox_acknowledge_by_id(p_ids uuid[], p_claim_seqs bigint[]) returns setof uuid
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set enable_indexscan = on
set jit = off
as $$
begin
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
end
$$;

-- As before, with acknowledgements left to core.outbox_acknowledge.
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
        return query select core.outbox_acknowledge(p_tids, p_ids, p_claim_seqs, '{}', null, true);
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

-- The beginning of an exactly-once effect: records the handler as having handled the events that it still
-- holds. In the caller's transaction, so that it stands or falls with the effect. The unique key of the dedup
-- row is the lock: whoever else wants to run the same handler on the same key waits for this transaction's
-- end. Measured: locking the events as well cost a third of the throughput or more, and protects nothing more.
-- Returns nothing when all are fresh, else what became of each, in order.
create function core.effect_enter(p_handler text, p_tids tid[], p_ids uuid[], p_claim_seqs bigint[], p_keys text[])
returns setof text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = on
set enable_mergejoin = off
set enable_nestloop = off
set enable_tidscan = on
set jit = off
as $$
declare
    v_held  uuid[];
    v_fresh uuid[];
    v_rows  bigint;
begin
    select count(*) into v_rows
    from core.outbox o join unnest(p_ids, p_claim_seqs) as t(id, claim_seq) on o.id = t.id and o.claim_seq = t.claim_seq
    where o.ctid = any (p_tids) and o.status = 'in_flight';
    if v_rows = cardinality(p_ids) then
        v_held := p_ids;
    else
        v_held := array(
            select o.id from core.outbox o join unnest(p_ids, p_claim_seqs) as t(id, claim_seq) on o.id = t.id and o.claim_seq = t.claim_seq
            where o.id = any (p_ids) and o.status = 'in_flight');
    end if;
    -- Most often none of them was handled before: without ON CONFLICT each row is inserted once and not probed for first.
    if cardinality(v_held) = cardinality(p_ids) then
        begin
            insert into core.event_handled (handler_name, idempotency_key, event_id)
            select p_handler, t.key, t.id from unnest(p_ids, p_keys) as t(id, key) order by t.key collate "C";
            return;
        exception when unique_violation then
            null;
        end;
    end if;
    with recorded as (
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select p_handler, t.key, t.id from unnest(p_ids, p_keys) as t(id, key) join unnest(v_held) as h(id) on h.id = t.id
        order by t.key collate "C"
        on conflict do nothing
        returning event_id)
    select coalesce(array_agg(r.event_id), '{}') into v_fresh from recorded r;
    return query
    select case when t.id = any (v_fresh) then 'fresh' when t.id = any (v_held) then 'handled' else 'fenced' end
    from unnest(p_ids) with ordinality as t(id, place)
    order by t.place;
end
$$;

revoke all on function core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[], boolean),
    core.outbox_acknowledge(tid[], uuid[], bigint[], bigint[], bigint, boolean), core.outbox_acknowledge_by_id(uuid[], bigint[]),
    core.effect_enter(text, tid[], uuid[], bigint[], text[]) from public;
