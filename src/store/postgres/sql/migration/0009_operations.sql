-- Bulk changes of dead letters: a frozen set, carried out in bounded steps that survive a crash. Functions only: runs in
-- milliseconds.

-- The number of the last replay, 0 for none.
create function core.last_cycle(p_history jsonb) returns int
language sql immutable
as $$ select coalesce((p_history -> -1 ->> 'cycle')::int, 0) $$;

-- Whether an event is still as the plan saw it.
create function core.operation_fits(p_kind text, p_item core.operation_items, p_event core.outbox) returns boolean
language sql immutable
as $$
    select p_event.status = 'failed' and p_event.claim_seq = p_item.claim_seq
       and (p_event.deleted_at is not null) = (p_kind = 'restore')
       and coalesce((p_event.failure_history -> -1 ->> 'cycle')::int, 0) = p_item.cycle
$$;

create function core.operation_locked(p_id uuid) returns core.operations
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_operation core.operations;
begin
    select * into v_operation from core.operations where id = p_id for update;
    if not found then
        raise exception 'operation % does not exist', p_id using errcode = 'SL404';
    end if;
    return v_operation;
end
$$;

-- Freezes what a filter, or a list of events, means right now. Returns a row with a total of 0, and keeps
-- nothing, when that is nothing.
create function core.operation_plan(
    p_id uuid, p_kind text, p_filter jsonb, p_event_ids uuid[], p_filter_text text, p_to_generation bigint,
    p_rate int, p_canary int, p_stop_percent int, p_valid_for interval, p_most bigint, p_actor text, p_surface text, p_reason text
) returns core.operations
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_operation core.operations;
    v_limit     bigint := case when p_most > 0 then p_most + 1 end;
begin
    if p_kind = 'replay' and coalesce(p_to_generation, 0) < 1 then
        raise exception 'to_generation: a replay needs the generation that gets the events' using errcode = 'SL422';
    end if;
    -- The audit keeps who did what; the sets need not be kept for ever.
    delete from core.operations
    where (state = 'planned' and expires_at < now() - interval '1 day') or ended_at < now() - interval '60 days';

    insert into core.operations (id, kind, filter, to_generation, rate, canary, stop_percent, actor, surface, reason, expires_at)
    values (p_id, p_kind, p_filter_text, p_to_generation, p_rate, p_canary, p_stop_percent, p_actor, p_surface, coalesce(p_reason, ''),
            now() + p_valid_for);
    if p_event_ids is not null then
        insert into core.operation_items (operation_id, place, event_id, claim_seq, cycle)
        select p_id, row_number() over (order by o.seq), o.id, o.claim_seq, core.last_cycle(o.failure_history)
        from core.outbox o
        where o.id = any (p_event_ids) and o.status = 'failed' and (o.deleted_at is not null) = (p_kind = 'restore');
    elsif p_kind = 'restore' then
        -- Index outbox_tombstones.
        insert into core.operation_items (operation_id, place, event_id, claim_seq, cycle)
        select p_id, row_number() over (order by f.seq), f.id, f.claim_seq, core.last_cycle(f.failure_history)
        from (select o.* from core.outbox o join core.failure_groups c on c.id = o.group_id
              where o.deleted_at is not null and o.status = 'failed'
                and core.group_matches(c, p_filter) and core.dead_matches(o, p_filter) limit v_limit) f;
    else
        -- Index outbox_dead_groups.
        insert into core.operation_items (operation_id, place, event_id, claim_seq, cycle)
        select p_id, row_number() over (order by f.seq), f.id, f.claim_seq, core.last_cycle(f.failure_history)
        from (select o.* from core.outbox o join core.failure_groups c on c.id = o.group_id
              where o.failed_at is not null and o.deleted_at is null
                and core.group_matches(c, p_filter) and core.dead_matches(o, p_filter) limit v_limit) f;
    end if;
    update core.operations o
    set total = (select count(*) from core.operation_items i where i.operation_id = p_id)
    where o.id = p_id
    returning * into v_operation;
    if p_most > 0 and v_operation.total > p_most then
        raise exception 'filter: it matches more than % events; narrow it or plan in parts', p_most using errcode = 'SL422';
    elsif v_operation.total = 0 then
        delete from core.operations where id = p_id;
    end if;
    return v_operation;
end
$$;

create function core.operation_start(
    p_id uuid, p_confirmed bigint, p_rate int, p_canary int, p_stop_percent int, p_actor text, p_surface text, p_reason text
) returns core.operations
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_operation core.operations := core.operation_locked(p_id);
    v_moved     bigint;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    elsif v_operation.state <> 'planned' then
        raise exception 'operation % is %, only a planned one can be started', p_id, v_operation.state using errcode = 'SL409';
    elsif v_operation.expires_at <= now() then
        raise exception 'the plan % has expired; plan again', p_id using errcode = 'SL409';
    elsif p_confirmed <> v_operation.total then
        raise exception 'count: the plan has % events, not %', v_operation.total, p_confirmed using errcode = 'SL422';
    end if;
    select count(*) into v_moved
    from core.operation_items i left join core.outbox o on o.id = i.event_id
    where i.operation_id = p_id and not coalesce(core.operation_fits(v_operation.kind, i, o), false);
    if v_moved > 0 then
        raise exception '% of the % events have moved since the plan; plan again', v_moved, v_operation.total using errcode = 'SL409';
    end if;
    update core.operations
    set state = 'running', started_at = now(), rate = p_rate, canary = p_canary, stop_percent = p_stop_percent,
        actor = p_actor, surface = p_surface, reason = p_reason
    where id = p_id
    returning * into v_operation;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, v_operation.kind || '.bulk', v_operation.total, p_reason,
            jsonb_build_object('operation_id', p_id, 'filter', v_operation.filter, 'to_generation', v_operation.to_generation,
                               'rate', p_rate, 'canary', p_canary, 'stop_percent', p_stop_percent));
    return v_operation;
end
$$;

-- pause, resume, cancel, rate.
create function core.operation_change(p_id uuid, p_change text, p_rate int, p_actor text, p_surface text, p_reason text)
returns core.operations
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_operation core.operations := core.operation_locked(p_id);
begin
    if (p_change = 'pause' and v_operation.state <> 'running')
        or (p_change = 'resume' and v_operation.state <> 'paused')
        or v_operation.state not in ('planned', 'running', 'paused') then
        raise exception 'operation % is %: it cannot be changed by %', p_id, v_operation.state, p_change using errcode = 'SL409';
    end if;
    update core.operations
    set state = case p_change when 'pause' then 'paused' when 'resume' then 'running' when 'cancel' then 'cancelled' else state end,
        rate = case when p_change = 'rate' then p_rate else rate end,
        ended_at = case when p_change = 'cancel' then now() end
    where id = p_id
    returning * into v_operation;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'operation.' || p_change, coalesce(p_reason, ''),
            jsonb_build_object('operation_id', p_id) || case when p_change = 'rate' then jsonb_build_object('rate', p_rate) else '{}' end);
    return v_operation;
end
$$;

-- Takes or renews the right to carry an operation out, and looks what became of the events in flight. They come to their
-- end also when the operation has come to its own: it is counted then, and taken by nobody.
create function core.operation_hold(p_id uuid, p_executor text, p_lease interval) returns core.operations
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_operation    core.operations := core.operation_locked(p_id);
    v_live         boolean := v_operation.state in ('running', 'paused');
    v_delivered    bigint;
    v_failed_again bigint;
    v_gone         bigint;
begin
    if v_operation.state = 'planned' then
        return v_operation;
    elsif v_live and v_operation.executor <> p_executor and v_operation.lease_until > now() then
        raise exception 'operation % is carried out by %', p_id, v_operation.executor using errcode = 'SL409';
    end if;
    -- Index operation_items_in_flight, then outbox_pkey.
    with seen as (
        select i.place,
               case when o.id is null then 'skipped'
                    when o.status = 'delivered' then 'delivered'
                    when (o.status = 'failed' and o.claim_seq > i.claim_seq) or core.last_cycle(o.failure_history) > i.cycle
                    then 'failed_again' end as outcome
        from core.operation_items i left join core.outbox o on o.id = i.event_id
        where i.operation_id = p_id and i.state = 'in_flight'),
    noted as (
        update core.operation_items i set state = s.outcome
        from seen s
        where i.operation_id = p_id and i.place = s.place and s.outcome is not null
        returning i.state)
    select count(*) filter (where state = 'delivered'), count(*) filter (where state = 'failed_again'),
           count(*) filter (where state = 'skipped')
    into v_delivered, v_failed_again, v_gone from noted;
    update core.operations
    set executor = case when v_live then p_executor else executor end,
        lease_until = case when v_live then now() + p_lease else lease_until end, delivered = delivered + v_delivered,
        failed_again = failed_again + v_failed_again, skipped = skipped + v_gone
    where id = p_id
    returning * into v_operation;
    return v_operation;
end
$$;

create function core.operation_held(p_id uuid, p_executor text) returns core.operations
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_operation core.operations := core.operation_locked(p_id);
begin
    if v_operation.state <> 'running' then
        raise exception 'operation % is %', p_id, v_operation.state using errcode = 'SL409';
    elsif v_operation.executor <> p_executor or coalesce(v_operation.lease_until <= now(), true) then
        raise exception 'operation % is not held by %', p_id, p_executor using errcode = 'SL409';
    end if;
    return v_operation;
end
$$;

-- Acts on the next events of the set, all or nothing. What is no longer as the plan saw it is passed over.
create function core.operation_advance(p_id uuid, p_executor text, p_limit int, p_paced_at timestamptz) returns core.operations
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_operation core.operations := core.operation_held(p_id, p_executor);
    v_ids       uuid[];
    v_taken     bigint;
    v_acted     bigint;
begin
    -- In the order of their ids, like every other statement that locks several events.
    perform from core.outbox o
    where o.id in (select i.event_id from core.operation_items i
                   where i.operation_id = p_id and i.place > v_operation.taken and i.place <= v_operation.taken + p_limit)
    order by o.id for update;
    select coalesce(array_agg(o.id) filter (where core.operation_fits(v_operation.kind, i, o)), '{}'), count(*)
    into v_ids, v_taken
    from core.operation_items i left join core.outbox o on o.id = i.event_id
    where i.operation_id = p_id and i.place > v_operation.taken and i.place <= v_operation.taken + p_limit;
    v_acted := cardinality(v_ids);

    if v_operation.kind = 'replay' then
        with reset as (
            select * from core.outbox_reset(v_ids, v_operation.to_generation, v_operation.actor, v_operation.reason, p_id))
        update core.operation_items i set state = 'in_flight', cycle = r.cycle
        from reset r
        where i.operation_id = p_id and i.place > v_operation.taken and i.place <= v_operation.taken + p_limit and i.event_id = r.id;
    else
        -- The operation's start is in the audit.
        insert into core.audited values (pg_current_xact_id()::text::bigint);
        update core.outbox o
        set deleted_at = case when v_operation.kind = 'discard' then now() end,
            restored_at = case when v_operation.kind = 'discard' then o.restored_at else now() end
        where o.id = any (v_ids);
        delete from core.audited where xid = pg_current_xact_id()::text::bigint;
        update core.operation_items i set state = 'changed'
        where i.operation_id = p_id and i.place > v_operation.taken and i.place <= v_operation.taken + p_limit and i.event_id = any (v_ids);
    end if;
    update core.operation_items i set state = 'skipped'
    where i.operation_id = p_id and i.place > v_operation.taken and i.place <= v_operation.taken + p_limit and i.state = 'waiting';

    update core.operations
    set taken = taken + v_taken, skipped = skipped + v_taken - v_acted,
        changed = changed + case when kind = 'replay' then 0 else v_acted end, paced_at = p_paced_at
    where id = p_id
    returning * into v_operation;
    return v_operation;
end
$$;

create function core.operation_end(p_id uuid, p_executor text, p_state text, p_note text) returns core.operations
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_operation core.operations := core.operation_held(p_id, p_executor);
begin
    if p_state not in ('stopped', 'finished') then
        raise exception 'state: an operation ends stopped or finished, not %', p_state using errcode = 'SL422';
    end if;
    update core.operations set state = p_state, note = p_note, ended_at = now(), lease_until = null where id = p_id
    returning * into v_operation;
    return v_operation;
end
$$;

create function core.operation_release(p_id uuid, p_executor text) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ update core.operations set lease_until = null where id = p_id and executor = p_executor $$;

revoke all on function core.last_cycle(jsonb), core.operation_fits(text, core.operation_items, core.outbox),
    core.operation_locked(uuid),
    core.operation_plan(uuid, text, jsonb, uuid[], text, bigint, int, int, int, interval, bigint, text, text, text),
    core.operation_start(uuid, bigint, int, int, int, text, text, text),
    core.operation_change(uuid, text, int, text, text, text), core.operation_hold(uuid, text, interval),
    core.operation_held(uuid, text), core.operation_advance(uuid, text, int, timestamptz),
    core.operation_end(uuid, text, text, text), core.operation_release(uuid, text) from public;
