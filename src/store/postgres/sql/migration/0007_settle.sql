-- What becomes of a claim: acknowledgement, retry, failure, heartbeat, expiry, and exactly-once effects. Together with 0006
-- the only ways in which a worker changes an event. Functions only: runs in milliseconds.

-- Which of these batches the server knows nothing of: their claims were undone by a crash, or are over.
create function core.claims_forgotten(p_batches bigint[]) returns setof bigint
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
    select b.batch from unnest(p_batches) as b(batch)
    where b.batch <> all (array(select c.batch from core.claims c where c.batch = any (p_batches)))
$$;

-- Forgets batches of which nothing is in flight any more: for who settles what another process has claimed, after that.
create function core.claims_close(p_batches bigint[]) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
    -- Index outbox_scan.
    delete from core.claims c
    where c.batch = any (p_batches) and not exists (
        select from core.outbox o
        where o.generation = c.generation and o.seq = any (c.seqs) and o.status = 'in_flight' and o.claimed_by = c.worker)
$$;

-- Acknowledges what was delivered, under its fencing tokens. Returns the ids that were fenced; or, without having changed
-- anything, the batches among p_batches that are forgotten: call again without their events. And what was waiting for the ordering
-- keys that are free now (see core.keys_release). The rows are found by
-- where the claim left them, in one scan; who they are is looked up in a hash. Measured: a scan per row, as a nested
-- loop makes it, costs a fifth more.
create function core.outbox_acknowledge(p_tids tid[], p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_done_batches bigint[],
                                        p_based_on bigint, p_durable boolean, p_keyed boolean default null)
returns table (fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
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
    v_keys text[];
    v_ids  uuid[];
begin
    if p_based_on <> (select s.value::bigint from core.settings s where s.key = 'subscriptions_version') then
        raise exception 'the subscriptions have changed' using errcode = 'SL410';
    end if;
    return query select null::uuid, core.claims_forgotten(p_batches), null::bigint, null::bigint;
    if found then
        return;
    end if;
    -- A lost acknowledgement is a redelivery.
    if not p_durable then
        perform set_config('synchronous_commit', 'off', true);
    end if;

    if coalesce(p_keyed, exists (select from core.claims c where c.batch = any (p_batches) and c.keyed)) then
        perform set_config('sluice.keys', 'released by batch', true);
        with done as (
            update core.outbox o
            set status = 'delivered', delivered_at = now(), progress = null
            from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
            where o.ctid = any (p_tids) and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
            returning o.id, o.ordering_key)
        select count(*), array_agg(d.ordering_key) filter (where d.ordering_key is not null),
               array_agg(d.id) filter (where d.ordering_key is not null)
        into v_rows, v_keys, v_ids
        from done d;
        perform set_config('sluice.keys', '', true);
        if v_keys is not null then
            return query select null::uuid, null::bigint, r.generation, r.seq from core.keys_release(v_keys, v_ids) r;
        end if;
    else
        update core.outbox o
        set status = 'delivered', delivered_at = now(), progress = null
        from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
        where o.ctid = any (p_tids) and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
        get diagnostics v_rows = row_count;
    end if;
    if v_rows < cardinality(p_ids) then
        return query select core.outbox_acknowledge_by_id(p_ids, p_claim_seqs), null::bigint, null::bigint, null::bigint;
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

-- Settles a batch of outcomes under their fencing tokens: acknowledges p_ids, moves p_undelivered to what is next for each
-- (a retry, a failure, other handlers), records dedup rows. Returns what core.outbox_acknowledge returns. Dedup rows are
-- recorded for forgotten batches as well: the effect did happen.
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
) returns table (fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
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

    return query select null::uuid, core.claims_forgotten(p_batches), null::bigint, null::bigint;
    if found then
        return;
    end if;

    if cardinality(p_ids) > 0 then
        return query
        select * from core.outbox_acknowledge(p_tids, p_ids, p_claim_seqs, '{}', '{}', null, true,
            exists (select from core.claims c where c.batch = any (p_batches) and c.keyed));
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
        select t.id, null::bigint, null::bigint, null::bigint
        from unnest(p_undelivered) as t(id) where t.id not in (select m.id from moved m);
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

-- Renews claims; returns the ids whose claim was lost, those of forgotten batches among them. An event that a handler's
-- own transaction has locked is passed over: while it is locked, nobody else can take it either.
create function core.outbox_heartbeat(p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_ttl interval)
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

-- Events whose claim's time ran out. Forgets batches that have nothing in flight any more and
-- postpones those that were renewed. Changes no event: the caller settles, fenced by claim_seq.
create function core.outbox_expired(p_limit int)
returns table (id uuid, claim_seq bigint, worker text, attempts int, batch bigint, generation bigint, claimed_at timestamptz,
               seen_at timestamptz, progress jsonb, last_error text, failure_class text, fingerprint text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_claim core.claims;
    v_until timestamptz;
    v_found int := 0;
    v_rows  int;
begin
    for v_claim in
        select * from core.claims c where c.expires_at <= now() order by c.expires_at limit p_limit for update skip locked
    loop
        -- Index outbox_scan.
        v_until := (
            select min(o.claimed_at) + v_claim.ttl from core.outbox o
            where o.generation = v_claim.generation and o.seq = any (v_claim.seqs)
              and o.status = 'in_flight' and o.claimed_by = v_claim.worker);
        if v_until is null then
            delete from core.claims c where c.batch = v_claim.batch;
        elsif v_until > now() then
            update core.claims c set expires_at = v_until where c.batch = v_claim.batch;
        else
            return query
            select o.id, o.claim_seq, o.claimed_by, o.attempts, v_claim.batch, o.generation, o.claimed_at, now(), o.progress,
                   o.last_error, o.failure_class, o.fingerprint
            from core.outbox o
            where o.generation = v_claim.generation and o.seq = any (v_claim.seqs)
              and o.status = 'in_flight' and o.claimed_by = v_claim.worker and o.claimed_at + v_claim.ttl <= now()
            limit p_limit - v_found
            -- A handler's transaction holds its events until it ends.
            for update of o skip locked;
            get diagnostics v_rows = row_count;
            v_found := v_found + v_rows;
            exit when v_found >= p_limit;
        end if;
    end loop;
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

revoke all on function core.claims_forgotten(bigint[]), core.claims_close(bigint[]),
    core.outbox_acknowledge(tid[], uuid[], bigint[], bigint[], bigint[], bigint, boolean, boolean),
    core.outbox_acknowledge_by_id(uuid[], bigint[]),
    core.outbox_settle(tid[], uuid[], bigint[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[], interval[],
        timestamptz[], text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean),
    core.outbox_heartbeat(uuid[], bigint[], bigint[], interval), core.outbox_expired(int),
    core.effect_enter(text, tid[], uuid[], bigint[], text[]) from public;
