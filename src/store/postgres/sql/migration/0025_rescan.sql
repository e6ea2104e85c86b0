-- What a rescan holds while it parks is not missed by everybody. Functions only: runs in milliseconds.

-- As in 0006, but for the numbers that it held.
--
-- Reads what the group may have passed over and moves its low mark. The only place that moves one, and only over numbers
-- that it has just read and found taken, settled, parked or absent, once no transaction is left that could commit one of
-- them. One caller at a time per group; who comes meanwhile is told so (busy) and comes again.
--
-- Why it is right: `last_value` is read before this transaction has an id of its own. Whoever drew a number up to there had
-- its id before that (see the default of core.outbox.seq), so its id is smaller than ours. Once the oldest running
-- transaction is younger than the id that was written beside the mark, everything up to the mark is visible or will never
-- exist; and it is read with the same snapshot that said so.
--
-- Returns low, the first number that can be claimed now (null: none), and how far it has read. Or the first that may have become so
-- meanwhile: while it parks, it holds events, and whoever claims one by the name that a settle gave passes over what is held.
create or replace function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[])
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
    v_hidden bigint;
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
                    v_hidden := least(v_hidden, v_seqs[i]);
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
    first_open := least(first_open, v_hidden);
    upto := v_last;
    busy := false;
    return next;
end
$$;
