-- Ordering keys: at most one event of a key is in flight, and each waits for the earlier ones. Functions only: runs in
-- milliseconds.

-- The event that this one has to wait for, null when nothing stands in its way: one of its key that is in flight; or an
-- earlier one that is not delivered and that somebody subscribes to, whether it waits or is new. New ones lie above the
-- floor, so the history of a key is not read.
-- The plans are pinned by the functions that call it: its own settings would cost more than its work.
create function core.outbox_blocker(p_key text, p_seq bigint, p_id uuid) returns uuid
language plpgsql stable
as $$
declare
    v_id uuid;
begin
    select k.event_id into v_id from core.keys_in_flight k where k.ordering_key = p_key collate "C" and k.event_id <> p_id;
    if found then
        return v_id;
    end if;
    -- Index outbox_waiting_keys.
    select o.id into v_id from core.outbox o
    where o.ordering_key = p_key and o.retry_after is not null and o.seq < p_seq
      and o.status = 'pending' and o.deleted_at is null and core.outbox_subscribed(o)
    order by o.seq limit 1;
    if found then
        return v_id;
    end if;
    -- Index outbox_ordering.
    select o.id into v_id from core.outbox o
    where o.ordering_key = p_key and o.seq < p_seq
      and o.seq > coalesce((select c.low from core.claim_cursors c where c.group_key = ''), 0)
      and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and core.outbox_subscribed(o)
    order by o.seq limit 1;
    return v_id;
end
$$;

-- Parks events that wait behind another one of their key: out of the scan, until the other one's end makes them due (or
-- ten minutes have passed). Returns the numbers of those that it parked. The blocker's row is held meanwhile: a settle
-- that is under way cannot see this event, so where one is, the event is left as it is and somebody comes back. So it is
-- while a subscription is withdrawn, which releases what is parked and could not see it either.
create function core.outbox_park(p_ids uuid[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    v_event   core.outbox;
    v_blocker uuid;
    v_parked  bigint[] := '{}';
    v_id      uuid;
begin
    if not pg_try_advisory_xact_lock_shared(hashtextextended('sluice.park', 0)) then
        return v_parked;
    end if;
    foreach v_id in array p_ids loop
        select * into v_event from core.outbox o
        where o.id = v_id and o.status = 'pending' and o.deleted_at is null and o.ordering_key is not null
        for update skip locked;
        continue when not found;
        v_blocker := core.outbox_blocker(v_event.ordering_key, v_event.seq, v_event.id);
        perform from core.outbox b where b.id = v_blocker and b.status in ('pending', 'in_flight') for share skip locked;
        continue when not found;
        -- It may have been settled between the question and the lock, and wait for its next attempt behind this one.
        continue when core.outbox_blocker(v_event.ordering_key, v_event.seq, v_event.id) is distinct from v_blocker;
        update core.outbox o
        set retry_after = now() + interval '10 minutes', blocked_since = coalesce(o.blocked_since, now())
        where o.id = v_id;
        v_parked := v_parked || v_event.seq;
    end loop;
    return v_parked;
end
$$;

-- An event of this key is out of the way: the first one that waits behind it, parked or passed over by the scan, is due,
-- and with it those before it that nobody subscribes to, which may never end and release it.
-- With p_before only one that has a smaller number: it need not wait for the other's next attempt.
create function core.outbox_unblock(p_key text, p_before bigint) returns void
language plpgsql volatile
as $$
declare
    v_before bigint := coalesce(p_before, 9223372036854775807);
    v_new    core.outbox;
    v_parked core.outbox;
begin
    -- Index outbox_ordering.
    select * into v_new from core.outbox w
    where w.ordering_key = p_key and w.seq < v_before
      and w.seq > coalesce((select c.low from core.claim_cursors c where c.group_key = ''), 0)
      and w.status = 'pending' and w.retry_after is null and w.deleted_at is null and core.outbox_subscribed(w)
    order by w.seq limit 1;
    -- Index outbox_waiting_keys.
    for v_parked in
        select * from core.outbox w
        where w.ordering_key = p_key and w.retry_after is not null and w.seq < coalesce(v_new.seq, v_before)
          and w.status = 'pending' and w.blocked_since is not null and w.deleted_at is null
        order by w.seq
    loop
        update core.outbox o
        set retry_after = now(), blocked_since = null
        where o.id = v_parked.id and o.status = 'pending' and o.blocked_since is not null;
        if core.outbox_subscribed(v_parked) then
            -- Who serves it may be another process, and rest until the event would have been due. One notification for all
            -- keys of a transaction: they are the same.
            perform pg_notify(v_parked.channel, '');
            return;
        end if;
    end loop;
    update core.outbox o
    set retry_after = now(), blocked_since = null
    where o.id = v_new.id and o.status = 'pending' and (o.retry_after is null or o.blocked_since is not null);
    if found then
        perform pg_notify(v_new.channel, '');
    end if;
end
$$;

-- Releases the keys of events that were delivered, those of a whole batch at once. What is parked behind one is made due. What
-- is new is only named, the first of each key: it lies above the low marks of all groups, so it is found whether or not the
-- caller claims it.
create function core.keys_release(p_keys text[], p_ids uuid[]) returns table (generation bigint, seq bigint)
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
    -- Index outbox_waiting_keys, once per key: a LIMIT keeps the planner from joining.
    for v_key in
        select t.key
        from unnest(p_keys) as t(key), lateral (
            select from core.outbox w
            where w.ordering_key = t.key and w.retry_after is not null
              and w.status = 'pending' and w.blocked_since is not null and w.deleted_at is null
            limit 1) w
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

-- Moves the floor of the ordering keys by the rule of core.claim_cursor_advance, over one slice: past keyed events that are
-- not new, or that nobody subscribes to. p_last: the sequence's number, read before the transaction had an id.
create function core.key_floor_advance(p_last bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    c_numbers constant int := 100000;
    v_row   core.claim_cursors;
    v_ended boolean;
    v_open  bigint;
    v_upto  bigint;
begin
    select * into v_row from core.claim_cursors c where c.group_key = '' for update skip locked;
    if not found then
        if not exists (select from core.claim_cursors c where c.group_key = '') then
            insert into core.claim_cursors (group_key, low) values ('', 0) on conflict do nothing;
        end if;
        return;
    end if;
    v_upto := least(v_row.mark, v_row.low + c_numbers);
    -- Index outbox_keyed. One statement, one snapshot.
    select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid,
           (select o.seq from core.outbox o
            where o.ordering_key is not null and o.seq + 0 > v_row.low and o.seq + 0 <= v_upto
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and core.outbox_subscribed(o)
            order by o.seq + 0 limit 1)
    into v_ended, v_open;
    if not v_ended then
        return;
    end if;
    update core.claim_cursors c
    set low      = greatest(c.low, least(v_upto, v_open - 1)),
        mark     = greatest(c.mark, p_last),
        mark_xid = pg_current_xact_id()::text::bigint,
        saved_at = now()
    where c.group_key = '';
end
$$;

revoke all on function core.outbox_blocker(text, bigint, uuid), core.outbox_park(uuid[]), core.outbox_unblock(text, bigint),
    core.keys_release(text[], uuid[]), core.key_floor_advance(bigint) from public;
