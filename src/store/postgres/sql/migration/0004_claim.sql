-- Claim, settle, heartbeat, expiry: the only ways in which a worker changes an event.
--
-- The planner settings on these functions pin their plans: index order and TID look-ups, whatever the
-- statistics say about a table that grows and drains by the minute.

-- Takes up to p_limit events: those that are due first, then new ones above p_after (and up to
-- p_upto, for a sweep). `head` is the highest seq that was looked at; it is returned on a row without
-- an id when everything that was found is blocked by its ordering key.
create function core.outbox_claim(
    p_generation bigint,
    p_worker     text,
    p_limit      int,
    p_ttl        interval,
    p_after      bigint,
    p_upto       bigint,
    p_contexts   text[],
    p_channels   text[]
) returns table (
    head            bigint,
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
    ordering_key    text
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
begin
    -- A lost claim is a redelivery, so its commit need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);

    if p_upto is null then
        -- Index outbox_due.
        select coalesce(array_agg(c.tid) filter (where not c.blocked), '{}'), array_agg(c.seq) filter (where not c.blocked),
               array_agg(c.tid) filter (where c.blocked)
        into v_take, v_seqs, v_parked
        from (
            select o.ctid as tid, o.seq,
                   o.ordering_key is not null
                       and core.outbox_key_blocker(o.ordering_key, o.seq, o.failure_history <> '[]') is not null as blocked
            from core.outbox o
            where o.generation = p_generation and o.retry_after <= now()
              and o.status = 'pending' and o.deleted_at is null
              and (p_contexts is null or o.target is null or o.target = any (p_contexts))
              and (p_channels is null or o.channel = any (p_channels))
            order by o.retry_after
            limit p_limit
            for update of o skip locked) c;
        if v_parked is not null then
            update core.outbox o
            set retry_after = now() + interval '1 second', blocked_since = coalesce(o.blocked_since, now())
            where o.ctid = any (v_parked);
        end if;
    end if;

    if cardinality(v_take) < p_limit then
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
              and (p_contexts is null or o.target is null or o.target = any (p_contexts))
              and (p_channels is null or o.channel = any (p_channels))
            order by o.seq
            limit p_limit - cardinality(v_take)
            for update of o skip locked) c;
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
    returning v_head, v_batch, o.ctid, o.id, o.seq, o.claim_seq, o.attempts, o.event_type, o.event_version, o.occurred_at, o.source,
        o.target, o.workspace_id, o.payload, o.idempotency_key, o.trace_context, o.channel, o.ordering_key;
end
$$;

-- What the scan may have passed too early: the first claimable event in (p_low, p_head], with the
-- oldest running transaction and an id drawn now. Events behind the cursor exist when a transaction
-- drew a small seq and committed late, or when a claimer died before its commit.
create function core.outbox_scan_gap(p_generation bigint, p_low bigint, p_head bigint, p_contexts text[], p_channels text[])
returns table (oldest_running bigint, first_open bigint, drawn bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    -- Read first: what has ended by now is visible to the next statement.
    oldest_running := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    -- Index outbox_scan.
    first_open := (
        select o.seq from core.outbox o
        where o.generation = p_generation and o.seq > p_low and o.seq <= p_head
          and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
          and (p_contexts is null or o.target is null or o.target = any (p_contexts))
          and (p_channels is null or o.channel = any (p_channels))
          and (o.ordering_key is null or core.outbox_key_blocker(o.ordering_key, o.seq, false) is null)
        order by o.seq limit 1);
    drawn := pg_current_xact_id()::text::bigint;
    return next;
end
$$;

-- Applies decisions, each fenced by its claim_seq. Three sets of parallel arrays: what was delivered,
-- what was not, and which handlers have handled what. Returns the ids that were fenced.
create function core.outbox_settle(
    p_tids           tid[],
    p_ids            uuid[],
    p_claim_seqs     bigint[],
    p_done_batches   bigint[],
    p_undelivered    uuid[],
    p_undelivered_claim_seqs bigint[],
    p_next           text[],
    p_counted        boolean[],
    p_delays         interval[],
    p_not_before     timestamptz[],
    p_last_errors    text[],
    p_failure_classes  text[],
    p_fingerprints   text[],
    p_handlers       text[],
    p_handled_keys   text[],
    p_handled_events uuid[]
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
    -- A lost acknowledgement is a redelivery; a lost failure or dedup row would be a broken promise.
    if cardinality(p_undelivered) = 0 and cardinality(p_handlers) = 0 then
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
        set status = 'delivered', delivered_at = now()
        from unnest(p_tids, p_ids, p_claim_seqs) as t(tid, id, claim_seq)
        where o.ctid = t.tid and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
        get diagnostics v_rows = row_count;
        if v_rows < cardinality(p_ids) then
            -- The tuple moved (a heartbeat), the locator was unknown, or the claim is lost.
            update core.outbox o
            set status = 'delivered', delivered_at = now()
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
                last_error      = case when t.counted then t.last_error else o.last_error end,
                failure_class   = case when t.counted then t.failure_class else o.failure_class end,
                fingerprint     = case when t.counted then t.fingerprint else o.fingerprint end,
                first_failed_at = case when t.counted then coalesce(o.first_failed_at, now()) else o.first_failed_at end,
                retry_after     = case when t.next = 'pending' then coalesce(t.not_before, now() + t.delay) end,
                claimed_at      = case when t.next = 'failed' then o.claimed_at end,
                claimed_by      = case when t.next = 'failed' then o.claimed_by end
            from unnest(p_undelivered, p_undelivered_claim_seqs, p_next, p_counted, p_delays, p_not_before, p_last_errors,
                        p_failure_classes, p_fingerprints)
                as t(id, claim_seq, next, counted, delay, not_before, last_error, failure_class, fingerprint)
            where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
            returning o.id)
        select t.id from unnest(p_undelivered) as t(id) where t.id not in (select m.id from moved m);
    end if;

    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;

-- Renews claims; returns the ids whose claim was lost. The reaper reads claimed_at, so nothing else
-- has to move.
create function core.outbox_heartbeat(p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_ttl interval)
returns setof uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
    update core.claims c set ttl = p_ttl where c.batch = any (p_batches) and c.ttl <> p_ttl;
    return query
    with kept as (
        update core.outbox o
        set claimed_at = now()
        from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
        where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
        returning o.id)
    select t.id from unnest(p_ids) as t(id) where t.id not in (select k.id from kept k);
end
$$;

-- Events whose claim's time ran out. Forgets batches that have nothing in flight any more and
-- postpones those that were renewed. Changes no event: the caller settles, fenced by claim_seq.
create function core.outbox_expired(p_limit int)
returns table (id uuid, claim_seq bigint, worker text, attempts int)
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
            select o.id, o.claim_seq, o.claimed_by, o.attempts from core.outbox o
            where o.generation = v_claim.generation and o.seq = any (v_claim.seqs)
              and o.status = 'in_flight' and o.claimed_by = v_claim.worker and o.claimed_at + v_claim.ttl <= now()
            limit p_limit - v_found;
            get diagnostics v_rows = row_count;
            v_found := v_found + v_rows;
            exit when v_found >= p_limit;
        end if;
    end loop;
end
$$;

-- A cursor only ever moves up: everything at or below `low` has been found by this group once.
create function core.claim_cursor_save(p_group text, p_low bigint) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    insert into core.claim_cursors as c (group_key, low) values (p_group, p_low)
    on conflict (group_key) do update set low = greatest(c.low, excluded.low), saved_at = now();
end
$$;

revoke all on function core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[]) from public;
revoke all on function core.outbox_scan_gap(bigint, bigint, bigint, text[], text[]) from public;
revoke all on function core.outbox_settle(tid[], uuid[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], interval[],
    timestamptz[], text[], text[], text[], text[], text[], uuid[]) from public;
revoke all on function core.outbox_heartbeat(uuid[], bigint[], bigint[], interval) from public;
revoke all on function core.outbox_expired(int) from public;
revoke all on function core.claim_cursor_save(text, bigint) from public;
