-- Which handler wants which events, which worker processes there are, and where daemons deliver to. Functions only: runs in
-- milliseconds.

-- What an interest is matched against: channel, target (* for a broadcast) and type.
create function core.outbox_route(p_event core.outbox) returns text
language sql immutable
as $$ select p_event.channel || '/' || coalesce(p_event.target, '*') || '/' || p_event.event_type $$;

-- Whether one of these handlers (null: any) is due, or none is left to wait for.
create function core.outbox_waits_for(p_progress jsonb, p_handlers text[]) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select from jsonb_array_elements(p_progress) as w
        where (p_handlers is null or w ->> 'handler' = any (p_handlers))
          and not coalesce((w ->> 'exhausted')::boolean, false)
          and (w ->> 'due')::timestamptz <= now())
        or not exists (
        select from jsonb_array_elements(p_progress) as w where not coalesce((w ->> 'exhausted')::boolean, false))
$$;

-- Whether some handler of its generation subscribes to the event. In plpgsql, which keeps its plan: measured, a fifth of the
-- time that an SQL function takes.
create function core.outbox_subscribed(p_event core.outbox) returns boolean
language plpgsql stable
as $$
begin
    return exists (
        select from core.subscriptions s
        where s.generation = p_event.generation
          and (s.context is null or p_event.target is null or s.context = p_event.target)
          and (s.channel is null or s.channel = p_event.channel)
          and exists (
            select from unnest(s.event_types) as p
            where p = p_event.event_type or (right(p, 1) = '*' and starts_with(p_event.event_type, left(p, -1)))));
end
$$;

-- Adds or replaces subscriptions; the version changes only when one of them does. The last one to declare a
-- subscription is whose it is to withdraw; who gives no name takes none over.
create function core.subscribe(p_generation bigint, p_handlers text[], p_event_types jsonb, p_contexts text[], p_channels text[],
                               p_declared_by text default '')
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_changed bigint;
begin
    -- One at a time, so that the version never runs behind what it stands for.
    perform from core.settings where key = 'subscriptions_version' for update;
    insert into core.subscriptions as s (generation, handler_name, event_types, context, channel, declared_by)
    select p_generation, t.handler, array(select jsonb_array_elements_text(p_event_types -> (t.place::int - 1))), t.context, t.channel,
           p_declared_by
    from unnest(p_handlers, p_contexts, p_channels) with ordinality as t(handler, context, channel, place)
    on conflict (generation, handler_name) do update
    set event_types = excluded.event_types, context = excluded.context, channel = excluded.channel, registered_at = now()
    where (s.event_types, s.context, s.channel) is distinct from (excluded.event_types, excluded.context, excluded.channel);
    get diagnostics v_changed = row_count;
    if v_changed > 0 then
        update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    end if;
    update core.subscriptions s
    set declared_by = p_declared_by, registered_at = now()
    where s.generation = p_generation and s.handler_name = any (p_handlers) and s.declared_by <> p_declared_by and p_declared_by <> '';
    return v_changed;
end
$$;

-- Withdraws a subscription. Events that waited for it are for any worker now, and what waits behind events that nobody
-- subscribes to any more is released; workers are notified of both.
create function core.unsubscribe(p_generation bigint, p_handler text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rung bigint;
begin
    -- Whoever parks an event now has to be seen below; see core.outbox_park.
    perform pg_advisory_xact_lock(hashtextextended('sluice.park', 0));
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
            progress = (select jsonb_agg(w) from jsonb_array_elements(o.progress) as w where w ->> 'handler' <> p_handler),
            retry_after = case when o.blocked_since is null then o.retry_after else now() end,
            blocked_since = null
        where o.generation = p_generation and o.retry_after is not null and o.status = 'pending'
          and o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler))
        returning o.channel),
    -- Keys cross generations. Whoever still has to wait is parked again by the next claim. A row that is among those above
    -- must not be touched twice: one of the two changes would be lost.
    released as (
        update core.outbox o
        set retry_after = now(), blocked_since = null
        where o.ordering_key is not null and o.retry_after is not null and o.blocked_since is not null and o.status = 'pending'
          and not (o.generation = p_generation
                   and coalesce(o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler)), false))
        returning o.channel)
    select count(pg_notify(c.channel, '')) into v_rung
    from (select f.channel from freed f union select r.channel from released r) c;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'unsubscribe', coalesce(p_reason, ''),
            jsonb_build_object('generation', p_generation, 'handler_name', p_handler));
end
$$;

create function core.worker_announce(p_identity text, p_generation bigint, p_handlers text[], p_listener text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    insert into core.workers as w (identity, generation, handlers, listener)
    values (p_identity, p_generation, p_handlers, p_listener)
    on conflict (identity) do update
    set generation = excluded.generation, handlers = excluded.handlers, listener = excluded.listener, seen_at = now();
    delete from core.workers where seen_at < now() - interval '1 day';
    -- Another worker of the same handler may be doing the same.
    update core.subscriptions s
    set served_at = now()
    where s.ctid = any (array(
        select t.ctid from core.subscriptions t
        where t.generation = p_generation and t.handler_name = any (p_handlers) and t.served_at < now() - interval '1 minute'
        for update skip locked));
end
$$;

create function core.worker_depart(p_identity text) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ delete from core.workers where identity = p_identity $$;

-- Adds or replaces what a configuration declares of its sinks; their state stays.
create function core.sink_declare(p_names text[], p_kinds text[], p_targets text[], p_handlers jsonb) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into core.sinks as s (name, kind, target, handlers)
    select t.name, t.kind, t.target, array(select jsonb_array_elements_text(p_handlers -> (t.place::int - 1)))
    from unnest(p_names, p_kinds, p_targets) with ordinality as t(name, kind, target, place)
    order by t.name
    on conflict (name) do update
    set kind = excluded.kind, target = excluded.target, handlers = excluded.handlers, declared_at = now()
$$;

-- Pauses, disables or resumes a sink for all daemons, audited; resuming closes its circuit. What changes nothing is answered
-- and not audited. A receiver that is gone is not made less so by a pause.
create function core.sink_switch(p_name text, p_state text, p_actor text, p_surface text, p_reason text) returns core.sinks
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old core.sinks;
    v_row core.sinks;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    elsif p_state not in ('active', 'paused', 'disabled') then
        raise exception 'state: expected active, paused or disabled, got %', quote_literal(p_state) using errcode = 'SL422';
    end if;
    select * into v_old from core.sinks where name = p_name for update;
    if not found then
        raise exception 'there is no sink %', p_name using errcode = 'SL404';
    end if;
    if (v_old.state = p_state and (p_state <> 'active' or v_old.open_until is null))
       or (v_old.state = 'disabled' and p_state = 'paused') then
        return v_old;
    end if;
    update core.sinks
    set state = p_state, changed_at = now(), changed_by = p_actor, reason = p_reason,
        opened_at = case when p_state = 'active' then null else opened_at end,
        open_until = case when p_state = 'active' then null else open_until end,
        open_reason = case when p_state = 'active' then '' else open_reason end
    where name = p_name
    returning * into v_row;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'sink.' || case p_state when 'active' then 'resume' when 'paused' then 'pause' else 'disable' end, p_reason,
            jsonb_build_object('sink', p_name, 'from', v_old.state, 'to', p_state));
    return v_row;
end
$$;

-- Opens the circuit of a sink for this long, or closes it (null). The first opening and the closing are audited: an outage is
-- two records, however long it lasts.
create function core.sink_circuit(p_name text, p_open_for interval, p_actor text, p_surface text, p_reason text) returns core.sinks
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old core.sinks;
    v_row core.sinks;
begin
    select * into v_old from core.sinks where name = p_name for update;
    if not found then
        raise exception 'there is no sink %', p_name using errcode = 'SL404';
    end if;
    update core.sinks
    set opened_at = case when p_open_for is not null then coalesce(opened_at, now()) end,
        open_until = now() + p_open_for,
        open_reason = case when p_open_for is null then '' else p_reason end
    where name = p_name
    returning * into v_row;
    if (v_old.open_until is null) <> (p_open_for is null) then
        insert into core.audit (actor, surface, action, reason, detail)
        values (p_actor, p_surface, case when p_open_for is null then 'sink.circuit_close' else 'sink.circuit_open' end, p_reason,
                jsonb_build_object('sink', p_name));
    end if;
    return v_row;
end
$$;

revoke all on function core.sink_declare(text[], text[], text[], jsonb), core.sink_switch(text, text, text, text, text),
    core.sink_circuit(text, interval, text, text, text) from public;

-- Whoever may claim can settle what it likes; everybody else cannot make a claim's token.
create function core.token_secret() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select value from core.secrets where key = 'pull_tokens' $$;

revoke all on function core.outbox_route(core.outbox), core.outbox_waits_for(jsonb, text[]),
    core.outbox_subscribed(core.outbox), core.subscribe(bigint, text[], jsonb, text[], text[], text),
    core.unsubscribe(bigint, text, text, text, text), core.worker_announce(text, bigint, text[], text),
    core.worker_depart(text), core.token_secret() from public;
