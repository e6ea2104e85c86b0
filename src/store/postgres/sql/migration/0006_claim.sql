-- Claims: how a worker takes events, and the low mark below which nothing was passed over. The mark moves inside the
-- statement that has just read every number it moves over. Functions only: runs in milliseconds.
--
-- The planner settings on these functions and on those of 0007 pin their plans: index order and TID look-ups, whatever the
-- statistics say about a table that grows and drains by the minute.

-- Takes up to p_limit events: with p_due those that have become due, not longer ago than p_within, first, then those of p_next, which were passed over and whose keys
-- were released since, then new ones above p_after, up to p_upto where that is given. `head` is the highest seq that was looked at: all of p_upto, or of the generation, when there was room for
-- more; it is returned on a row without an id when nothing could be taken. `due_age`: how many
-- microseconds ago the latest of those that are due became so. `top` is the highest seq of the generation,
-- without p_upto, to tell how much lies ahead. What waits behind another event of its key is passed over: the other one's
-- end makes it due, or core.claim_cursor_advance parks it.
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
        -- Index outbox_scan.
        select array_agg(c.tid), array_agg(c.leaf), array_agg(c.seq), min(c.occurred_at), max(c.occurred_at)
        into v_fresh, v_fresh_leaves, v_fresh_seqs, v_fresh_from, v_fresh_to
        from (
            select o.ctid as tid, o.tableoid as leaf, o.seq, o.occurred_at
            from core.outbox o
            where o.generation = p_generation and o.seq = any (p_next) and (o.seq <= p_after or o.seq > p_upto)
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
              and core.outbox_blocker(o.ordering_key, o.seq, o.id) is null
            limit v_room
            for update of o skip locked) c;
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
        if p_upto is null then
            -- Read before the scan: when the scan ends early, everything up to here was looked at.
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
            -- Not further than a few times what is asked for: all of it may wait behind one key.
            v_upto := coalesce((
                select o.seq from core.outbox o
                where o.generation = p_generation and o.seq > p_after
                  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                order by o.seq offset 4 * v_room limit 1), v_top);
        end if;
        -- Index outbox_scan. What waits behind its key is not locked: the end of the one before it would have to wait.
        select array_agg(c.tid), array_agg(c.leaf), array_agg(c.seq), min(c.occurred_at), max(c.occurred_at), bool_or(c.keyed), count(*),
               max(c.seq)
        into v_fresh, v_fresh_leaves, v_fresh_seqs, v_fresh_from, v_fresh_to, v_fresh_keyed, v_seen, v_head
        from (
            select o.ctid as tid, o.tableoid as leaf, o.seq, o.occurred_at, o.ordering_key is not null as keyed
            from core.outbox o
            where o.generation = p_generation and o.seq > p_after and o.seq <= v_upto
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
            -- Index outbox_scan: a number is one event, in whichever month it lies.
            select o.ctid as tid, o.tableoid as leaf, o.seq, o.id, o.ordering_key from core.outbox o
            where o.generation = p_generation and o.seq = any (v_seqs) and o.occurred_at >= v_from and o.occurred_at <= v_to),
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
    p_lanes      text[],
    p_within     interval default '1000 years'
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
    -- As in core.outbox_claim.
    if (select s.value <> 'off' and (p_worker not like '%/relay:%' or s.value like 'draining%') from core.settings s where s.key = 'relay') then
        return;
    end if;
    perform set_config('synchronous_commit', 'off', true);
    -- Index outbox_waiting, once per lane.
    if exists (
        select
        from unnest(coalesce(p_lanes, array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
             lateral (
            select from core.outbox o
            where o.generation = p_generation and coalesce(o.lane, '') = l.lane and o.retry_after <= now() and o.retry_after > now() - p_within
              and o.status = 'pending' and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
              and (o.progress is null or core.outbox_waits_for(o.progress, p_handlers))
            order by o.retry_after
            limit 1) w) then
        return;
    end if;

    v_batch := 1 + floor(random() * 9007199254740991);
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

-- Reads what the group may have passed over and moves its low mark. The only place that moves one, and only over numbers
-- that it has just read and found taken, settled, parked or absent, once no transaction is left that could commit one of
-- them. One caller at a time per group; who comes meanwhile is told so (busy) and comes again.
--
-- Why it is right: `last_value` is read before this transaction has an id of its own. Whoever drew a number up to there had
-- its id before that (see the default of core.outbox.seq), so its id is smaller than ours. Once the oldest running
-- transaction is younger than the id that was written beside the mark, everything up to the mark is visible or will never
-- exist; and it is read with the same snapshot that said so.
--
-- Returns low, the first number that can be claimed now (null: none), and how far it has read.
create function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[])
returns table (low bigint, first_open bigint, upto bigint, busy boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
    c_rows   constant int := 10000;
    c_parks  constant int := 1000;
    v_parks  int := 0;
    -- A sequence that has given out nothing yet tells the number that it will give out first.
    v_last   bigint := (select s.last_value - (not s.is_called)::int from core.outbox_seq s);
    v_row    core.claim_cursors;
    v_at     bigint;
    v_plain  bigint;
    v_held   bigint;
    v_rows   bigint;
    v_top    bigint;
    v_first  bigint;
    v_keyed  boolean;
    v_ids    uuid[];
    v_seqs   bigint[];
    v_parked bigint[];
    v_ended  boolean;
begin
    if pg_current_xact_id_if_assigned() is not null then
        raise exception 'core.claim_cursor_advance must be the first to write in its transaction' using errcode = 'SL409';
    end if;
    perform set_config('synchronous_commit', 'off', true);
    select * into v_row from core.claim_cursors c where c.group_key = p_group for update skip locked;
    if not found then
        -- Asked first: an insert would wait for whoever holds the row.
        if not exists (select from core.claim_cursors c where c.group_key = p_group) then
            insert into core.claim_cursors (group_key, low, generation, interests) values (p_group, 0, p_generation, p_interests)
            on conflict do nothing
            returning * into v_row;
        end if;
        if v_row.group_key is null then
            low := (select c.low from core.claim_cursors c where c.group_key = p_group);
            upto := low;
            busy := true;
            return next;
            return;
        end if;
    end if;

    v_at := v_row.low;
    while v_at < v_last loop
        -- Up to the first that is open: most often all there is to know, and half the cost of a look at each. Index outbox_scan.
        -- One statement, one snapshot: that of the question whether all have ended, too.
        select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid, f.seq, f.keyed
        into v_ended, v_first, v_keyed
        from (values (1)) as one left join lateral (
            select o.seq, o.ordering_key is not null as keyed
            from core.outbox o
            where o.generation = p_generation and o.seq > v_at and o.seq <= v_last
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
            order by o.seq
            limit 1) f on true;
        if v_ended and v_row.low = v_at then
            v_row.low := greatest(v_row.low, least(v_row.mark, coalesce(v_first - 1, v_last)));
        end if;
        first_open := v_first;
        exit when v_first is null or not v_keyed;
        first_open := null;
        v_at := v_first - 1;

        -- As above, for each of a slice: those with a key may have to wait.
        select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid,
               min(c.seq) filter (where c.open and not c.keyed), count(*), max(c.seq),
               array_agg(c.id order by c.seq) filter (where c.open and c.keyed), array_agg(c.seq order by c.seq) filter (where c.open and c.keyed)
        into v_ended, v_plain, v_rows, v_top, v_ids, v_seqs
        from (
            select o.seq, o.id, o.ordering_key is not null as keyed,
                   o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                       and (p_interests is null or core.outbox_route(o) like any (p_interests)) as open
            from core.outbox o
            where o.generation = p_generation and o.seq > v_at and o.seq <= v_last
            order by o.seq
            limit c_rows) c;
        v_top := case when v_rows < c_rows then v_last else v_top end;
        first_open := v_plain;
        -- The first number that holds low back: one that can be claimed, or whose event cannot be parked now.
        v_held := v_plain;
        if v_ids is not null then
            for i in 1 .. cardinality(v_ids) loop
                exit when v_seqs[i] > v_plain;
                if not exists (
                    select from core.outbox o
                    where o.id = v_ids[i] and o.ordering_key is not null and core.outbox_blocker(o.ordering_key, o.seq, o.id) is not null) then
                    first_open := v_seqs[i];
                    v_held := least(v_held, v_seqs[i]);
                    exit;
                end if;
                v_parked := core.outbox_park(array[v_ids[i]]);
                if cardinality(v_parked) = 0 then
                    v_held := least(v_held, v_seqs[i]);
                end if;
                v_parks := v_parks + 1;
                if v_parks = c_parks then
                    -- The rest is for the next call.
                    v_last := v_seqs[i];
                    v_top := v_last;
                    first_open := null;
                    exit;
                end if;
            end loop;
        end if;
        if v_ended and v_row.low = v_at then
            v_row.low := greatest(v_row.low, least(v_row.mark, v_top, v_held - 1));
        end if;
        exit when first_open is not null;
        v_at := v_top;
    end loop;
    -- Without a number to read, whoever ran when the mark was set may still run.
    if v_ended is null then
        v_ended := pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid;
    end if;

    update core.claim_cursors c
    set low      = v_row.low,
        mark     = case when v_ended then greatest(c.mark, v_last) else c.mark end,
        mark_xid = case when v_ended then pg_current_xact_id()::text::bigint else c.mark_xid end,
        saved_at = now()
    where c.group_key = p_group;
    perform core.key_floor_advance(v_last);
    low := v_row.low;
    upto := v_last;
    busy := false;
    return next;
end
$$;

-- The numbers above p_low that no event of the generation has, up to p_upto, as ranges: given out to open transactions, undone, or
-- of other generations. What is committed late has one of them, so where a long transaction keeps the low mark from moving,
-- a process that knows them need not read everything behind its head time and again to find it. Read before a look at
-- everything: what is committed in between is found by either.
create function core.claim_holes(p_generation bigint, p_low bigint, p_upto bigint) returns table (after bigint, upto bigint)
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
            (select o.seq from core.outbox o where o.generation = p_generation and o.seq > p_low and o.seq <= p_upto order by o.seq)
            union all
            select p_upto + 1) o) g
    where g.seq - g.before > 1
    limit 10000;
end
$$;

-- The events in these ranges of numbers that could be claimed, in their order, those of the first ranges first. One whose key is
-- taken is left out: it is released with its key.
create function core.claim_late(p_generation bigint, p_afters bigint[], p_uptos bigint[], p_interests text[]) returns setof bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set jit = off
as $$
begin
    -- Index outbox_scan, once per range.
    return query
    select w.seq
    from unnest(p_afters, p_uptos) as h(after, upto), lateral (
        select o.seq from core.outbox o
        where o.generation = p_generation and o.seq > h.after and o.seq <= h.upto
          and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
          and (p_interests is null or core.outbox_route(o) like any (p_interests))
          and (o.ordering_key is null
               or (select k.event_id from core.keys_in_flight k where k.ordering_key = o.ordering_key collate "C") is null)
        order by o.seq
        limit 200) w
    limit 1000;
end
$$;

-- Gives the caller the next p_length numbers of a backlog that reaches up to p_top, of which it has looked at those up to
-- p_after: no other process of the group gets them. Not granted where less than that is left; `after` is then how far the
-- others have come.
create function core.claim_reserve(p_group text, p_after bigint, p_length bigint, p_top bigint)
returns table (after bigint, granted boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    insert into core.claim_heads as h (group_key, head) values (p_group, p_after + p_length)
    on conflict (group_key) do update set head = greatest(h.head, p_after) + p_length
    where greatest(h.head, p_after) + p_length <= p_top
    returning h.head - p_length into after;
    granted := after is not null;
    if not granted then
        after := least((select h.head from core.claim_heads h where h.group_key = p_group), p_top);
    end if;
    return next;
end
$$;

revoke all on function core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[], boolean, bigint[], interval),
    core.outbox_claim_stretch(bigint, text, interval, bigint, bigint, text[], text[], text[], interval),
    core.claim_cursor_advance(text, bigint, text[]), core.claim_holes(bigint, bigint, bigint),
    core.claim_late(bigint, bigint[], bigint[], text[]), core.claim_reserve(text, bigint, bigint, bigint) from public;
