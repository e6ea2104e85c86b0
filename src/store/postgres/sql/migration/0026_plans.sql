-- Statements that find their rows by the index that is meant for them, whatever the server believes of the table, and late commits
-- that are looked for where they can be. Functions only: runs in milliseconds.
--
-- A plan that is made while a table is empty is kept, and to the planner of that moment reading all of an index looks as cheap as
-- asking it for a hundred numbers. Measured, beside a transaction that stays open: claims of events with ordering keys and settles
-- that release them read everything that the table held, up to a second each. Asked once per number, or in the order of the index
-- where sorting is out of the question, there is nothing to choose.

-- As in 0007, but a function in SQL is planned anew by each settle that calls it, which was a tenth of a millisecond: as much as
-- claiming twenty events.
create or replace function core.claims_forgotten(p_batches bigint[]) returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
    return query
    select b.batch from unnest(p_batches) as b(batch)
    where b.batch <> all (array(select c.batch from core.claims c where c.batch = any (p_batches)));
end
$$;

-- Which of these (handler, key) pairs have been handled.
create function core.handled_among(p_handlers text[], p_keys text[]) returns table (handler_name text, idempotency_key text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
    -- Index event_handled_pkey, once per pair.
    return query
    select k.handler_name, k.idempotency_key
    from unnest(p_handlers, p_keys) as k(handler_name, idempotency_key), lateral (
        select from core.event_handled h
        where h.handler_name = k.handler_name and h.idempotency_key = k.idempotency_key
        offset 0) h;
end
$$;

-- As in 0006, but with the numbers of events that are still new: who knows these ranges need not read what lies between them
-- again, however many events pass while a transaction stays open. An event that has left that state does not come back to it.
drop function core.claim_holes(bigint, bigint, bigint);

-- The numbers above p_low, up to p_upto, that no event has or whose event is new for a group with these interests, as ranges.
-- Stops after 10,000: a list that long is of no use.
create function core.claim_holes(p_generation bigint, p_low bigint, p_upto bigint, p_interests text[])
returns table (after bigint, upto bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
    -- Index outbox_scan.
    return query
    select g.before, g.seq - 1
    from (
        select o.seq, lag(o.seq, 1, p_low) over (order by o.seq) as before
        from (
            (select o.seq from core.outbox o
             where o.generation = p_generation and o.seq > p_low and o.seq <= p_upto
               and not (o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                        and (p_interests is null or core.outbox_route(o) like any (p_interests)))
             order by o.seq)
            union all
            select p_upto + 1) o) g
    where g.seq - g.before > 1
    limit 10000;
end
$$;

revoke execute on function core.claim_holes(bigint, bigint, bigint, text[]), core.handled_among(text[], text[]) from public;

-- As in 0006, but for how numbers are looked up.
create or replace function core.outbox_claim(
    p_generation bigint,
    p_worker     text,
    p_limit      int,
    p_ttl        interval,
    p_after      bigint,
    p_upto       bigint,
    p_interests  text[],
    p_handlers   text[],
    p_lanes      text[],
    p_due        boolean,
    p_next       bigint[] default '{}',
    p_within     interval default '1000 years'
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
    progress        jsonb,
    due_age         bigint,
    -- It was scheduled, retried, replayed, or waited for its ordering key.
    waited          boolean
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
    -- A row's place is its table and its ctid: the months of a partitioned table have the same ctids.
    v_take    tid[] := '{}';
    v_leaves  oid[] := '{}';
    v_seqs    bigint[] := '{}';
    v_from    timestamptz;
    v_to      timestamptz;
    v_leaf    oid;
    v_tids    tid[];
    v_keyed   boolean;
    v_fresh   tid[];
    v_fresh_leaves oid[];
    v_fresh_seqs  bigint[];
    v_fresh_from  timestamptz;
    v_fresh_to    timestamptz;
    v_fresh_keyed boolean;
    v_blocked uuid[];
    v_parked  bigint[];
    v_seen    bigint;
    v_first   bigint;
    v_upto    bigint;
    v_head    bigint;
    v_batch   bigint;
    v_top     bigint;
    v_room    int;
    v_due_age bigint;
    v_due     bigint[];
begin
    -- While a broker carries the deliveries only a relay claims, whatever a process still believes; on the way back nobody does.
    if (select s.value <> 'off' and (p_worker not like '%/relay:%' or s.value like 'draining%') from core.settings s where s.key = 'relay') then
        return;
    end if;
    -- What a key has delivered above the floor is read for each of its events: while keys are busy, the floor follows closely.
    if cardinality(p_next) > 0 and pg_current_xact_id_if_assigned() is null
       and (select c.saved_at from core.claim_cursors c where c.group_key = '') < clock_timestamp() - interval '50 milliseconds' then
        perform core.key_floor_advance((select s.last_value from core.outbox_seq s));
    end if;
    -- A lost claim is a redelivery, so its commit need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);

    if p_due then
        -- Index outbox_waiting, once per lane.
        select coalesce(array_agg(c.tid) filter (where not c.blocked), '{}'), coalesce(array_agg(c.leaf) filter (where not c.blocked), '{}'),
               coalesce(array_agg(c.seq) filter (where not c.blocked), '{}'), min(c.occurred_at), max(c.occurred_at),
               array_agg(c.id) filter (where c.blocked), bool_or(c.keyed), extract(epoch from now() - max(c.retry_after)) * 1000000
        into v_take, v_leaves, v_seqs, v_from, v_to, v_blocked, v_keyed, v_due_age
        from (
            select w.tid, w.leaf, w.occurred_at, w.seq, w.id, w.blocked, w.keyed, w.retry_after
            from unnest(coalesce(p_lanes, array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
                 lateral (
                select o.ctid as tid, o.tableoid as leaf, o.occurred_at, o.seq, o.id, o.retry_after, o.ordering_key is not null as keyed,
                       o.ordering_key is not null and core.outbox_blocker(o.ordering_key, o.seq, o.id) is not null as blocked
                from core.outbox o
                where o.generation = p_generation and coalesce(o.lane, '') = l.lane and o.retry_after <= now() and o.retry_after > now() - p_within
                  and o.status = 'pending' and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                  and (o.progress is null or core.outbox_waits_for(o.progress, p_handlers))
                order by o.retry_after
                limit p_limit
                for update of o skip locked) w
            order by w.retry_after
            limit p_limit) c;
        if v_blocked is not null then
            v_parked := core.outbox_park(v_blocked);
            -- The end of what blocks these is under way, or came in between: look again in a moment.
            if cardinality(v_parked) < cardinality(v_blocked) then
                update core.outbox o
                set retry_after = now() + interval '100 milliseconds', blocked_since = coalesce(o.blocked_since, now())
                where o.id = any (v_blocked) and o.seq <> all (v_parked);
            end if;
        end if;
    end if;

    v_due := v_seqs;
    v_room := p_limit - cardinality(v_take);
    if v_room > 0 and cardinality(p_next) > 0 then
        -- Index outbox_scan, once per number.
        select array_agg(c.tid), array_agg(c.leaf), array_agg(c.seq), min(c.occurred_at), max(c.occurred_at)
        into v_fresh, v_fresh_leaves, v_fresh_seqs, v_fresh_from, v_fresh_to
        from (
            select o.tid, o.leaf, o.seq, o.occurred_at
            from unnest(p_next) as n(seq), lateral (
                select o.ctid as tid, o.tableoid as leaf, o.seq, o.occurred_at
                from core.outbox o
                where o.generation = p_generation and o.seq = n.seq and (o.seq <= p_after or o.seq > p_upto)
                  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                  and core.outbox_blocker(o.ordering_key, o.seq, o.id) is null
                offset 0
                for update of o skip locked) o
            limit v_room) c;
        v_take := v_take || v_fresh;
        v_leaves := v_leaves || v_fresh_leaves;
        v_seqs := v_seqs || v_fresh_seqs;
        v_from := least(v_from, v_fresh_from);
        v_to := greatest(v_to, v_fresh_to);
        v_keyed := v_keyed or v_fresh is not null;
        v_room := p_limit - cardinality(v_take);
    end if;
    if v_room > 0 then
        v_upto := p_upto;
        v_first := p_after;
        if p_upto is null then
            -- Read before the scan: when the scan ends early, everything up to here was looked at.
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
            -- Not further than a few times what is asked for: all of it may wait behind one key. And not once more over what lies
            -- before the first: beside a transaction that stays open, a process that begins finds little else.
            select min(f.seq) - 1, case when count(*) > 4 * v_room then max(f.seq) end
            into v_first, v_upto
            from (
                select o.seq from core.outbox o
                where o.generation = p_generation and o.seq > p_after
                  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                order by o.seq limit 4 * v_room + 1) f;
            v_first := coalesce(v_first, v_top, p_after);
            v_upto := coalesce(v_upto, v_top);
        end if;
        -- Index outbox_scan. What waits behind its key is not locked: the end of the one before it would have to wait.
        select array_agg(c.tid), array_agg(c.leaf), array_agg(c.seq), min(c.occurred_at), max(c.occurred_at), bool_or(c.keyed), count(*),
               max(c.seq)
        into v_fresh, v_fresh_leaves, v_fresh_seqs, v_fresh_from, v_fresh_to, v_fresh_keyed, v_seen, v_head
        from (
            select o.ctid as tid, o.tableoid as leaf, o.seq, o.occurred_at, o.ordering_key is not null as keyed
            from core.outbox o
            where o.generation = p_generation and o.seq > v_first and o.seq <= v_upto
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
              and (o.ordering_key is null or core.outbox_blocker(o.ordering_key, o.seq, o.id) is null)
            order by o.seq
            limit v_room
            for update of o skip locked) c;
        if v_seen < v_room then
            v_head := greatest(v_head, v_upto, p_after);
        end if;
        v_take := v_take || v_fresh;
        v_leaves := v_leaves || v_fresh_leaves;
        v_seqs := v_seqs || v_fresh_seqs;
        v_from := least(v_from, v_fresh_from);
        v_to := greatest(v_to, v_fresh_to);
        v_keyed := v_keyed or v_fresh_keyed;
    end if;

    if v_keyed then
        -- In one order for everybody, so that two claims never wait for each other in a circle. Who finds a key taken
        -- (its event was committed and claimed since the scan) leaves the event to a later look.
        with wanted as materialized (
            -- Index outbox_scan, once per number: a number is one event, in whichever month it lies.
            select o.tid, o.leaf, o.seq, o.id, o.ordering_key
            from unnest(v_seqs) as n(seq), lateral (
                select o.ctid as tid, o.tableoid as leaf, o.seq, o.id, o.ordering_key from core.outbox o
                where o.generation = p_generation and o.seq = n.seq and o.occurred_at >= v_from and o.occurred_at <= v_to
                offset 0) o),
        held as (
            insert into core.keys_in_flight (ordering_key, event_id)
            select w.ordering_key, w.id from wanted w
            where w.ordering_key is not null
              -- A scalar, so that it is looked up: the planner takes the table for empty and would read all of its index.
              and (select k.event_id from core.keys_in_flight k where k.ordering_key = w.ordering_key collate "C") is null
            order by w.ordering_key collate "C", w.seq
            on conflict do nothing
            returning event_id)
        select coalesce(array_agg(w.tid), '{}'), coalesce(array_agg(w.leaf), '{}'), coalesce(array_agg(w.seq), '{}')
        into v_take, v_leaves, v_seqs
        from wanted w
        where w.ordering_key is null or w.id in (select h.event_id from held h);
    end if;

    if cardinality(v_take) = 0 then
        if v_head is not null then
            head := v_head;
            top := v_top;
            due_age := v_due_age;
            return next;
        end if;
        return;
    end if;

    insert into core.claims (worker, generation, ttl, expires_at, seqs, keyed)
    values (p_worker, p_generation, p_ttl, now() + p_ttl, v_seqs, coalesce(v_keyed, false))
    returning core.claims.batch into v_batch;

    -- Table by table. The times leave the other months out of the plan; the table, those that remain.
    while cardinality(v_take) > 0 loop
        v_leaf := v_leaves[1];
        v_tids := v_take;
        if v_leaf = all (v_leaves) then
            v_take := '{}';
        else
            v_tids := array(select t.tid from unnest(v_take, v_leaves) as t(tid, leaf) where t.leaf = v_leaf);
            select array_agg(t.tid), array_agg(t.leaf) into v_take, v_leaves
            from unnest(v_take, v_leaves) as t(tid, leaf) where t.leaf <> v_leaf;
        end if;
        return query
        update core.outbox o
        set status = 'in_flight', claimed_at = now(), claimed_by = p_worker, claim_seq = o.claim_seq + 1,
            retry_after = null, blocked_since = null
        where o.ctid = any (v_tids) and o.tableoid = v_leaf and o.occurred_at >= v_from and o.occurred_at <= v_to
        returning v_head, v_top, v_batch, o.ctid, o.id, o.seq, o.claim_seq, o.attempts, o.event_type, o.event_version, o.occurred_at,
            o.source, o.target, o.workspace_id, o.payload, o.idempotency_key, o.trace_context, o.channel, o.ordering_key, o.claimed_at,
            o.progress, v_due_age, o.seq = any (v_due);
    end loop;
end
$$;

-- As in 0005, but for the order in which what waits is read.
create or replace function core.keys_release(p_keys text[], p_ids uuid[]) returns table (generation bigint, seq bigint)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set jit = off
as $$
#variable_conflict use_column
declare
    v_floor bigint := coalesce((select c.low from core.claim_cursors c where c.group_key = ''), 0);
    v_key   text;
begin
    delete from core.keys_in_flight k where k.ordering_key = any (p_keys) and k.event_id = any (p_ids);
    -- Index outbox_waiting_keys, once per key: a LIMIT keeps the planner from joining, the order from reading all that waits.
    for v_key in
        select t.key
        from unnest(p_keys) as t(key), lateral (
            select from core.outbox w
            where w.ordering_key = t.key and w.retry_after is not null
              and w.status = 'pending' and w.blocked_since is not null and w.deleted_at is null
            order by w.seq limit 1) w
    loop
        perform core.outbox_unblock(v_key, null);
    end loop;
    -- Index outbox_ordering.
    return query
    select n.generation, n.seq
    from unnest(p_keys) as t(key), lateral (
        select w.generation, w.seq from core.outbox w
        where w.ordering_key = t.key and w.seq > v_floor
          and w.status = 'pending' and w.retry_after is null and w.deleted_at is null and core.outbox_subscribed(w)
        order by w.seq limit 1) n;
end
$$;

alter function core.outbox_unblock(text, bigint) set enable_seqscan = off;
alter function core.outbox_unblock(text, bigint) set enable_bitmapscan = off;
alter function core.outbox_unblock(text, bigint) set enable_sort = off;
alter function core.outbox_park(uuid[]) set enable_sort = off;

-- As in 0007, but for how numbers are looked up.
create or replace function core.claims_close(p_batches bigint[]) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
    -- Index outbox_scan, once per number.
    delete from core.claims c
    where c.batch = any (p_batches) and not exists (
        select from unnest(c.seqs) as n(seq), lateral (
            select from core.outbox o
            where o.generation = c.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = c.worker
            offset 0) o)
$$;

-- As in 0007, but for how numbers are looked up.
create or replace function core.outbox_expired(p_limit int)
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
        -- Index outbox_scan, once per number.
        v_until := (
            select min(o.claimed_at) + v_claim.ttl
            from unnest(v_claim.seqs) as n(seq), lateral (
                select o.claimed_at from core.outbox o
                where o.generation = v_claim.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = v_claim.worker
                offset 0) o);
        if v_until is null then
            delete from core.claims c where c.batch = v_claim.batch;
        elsif v_until > now() then
            update core.claims c set expires_at = v_until where c.batch = v_claim.batch;
        else
            return query
            select o.id, o.claim_seq, o.claimed_by, o.attempts, v_claim.batch, o.generation, o.claimed_at, now(), o.progress,
                   o.last_error, o.failure_class, o.fingerprint
            from unnest(v_claim.seqs) as n(seq), lateral (
                select o.* from core.outbox o
                where o.generation = v_claim.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = v_claim.worker
                  and o.claimed_at + v_claim.ttl <= now()
                offset 0
                -- A handler's transaction holds its events until it ends.
                for update of o skip locked) o
            limit p_limit - v_found;
            get diagnostics v_rows = row_count;
            v_found := v_found + v_rows;
            exit when v_found >= p_limit;
        end if;
    end loop;
end
$$;
