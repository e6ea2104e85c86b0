-- Which handler wants which events, and which worker processes there are. Functions only: runs in milliseconds.

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

-- Adds or replaces subscriptions; the version changes only when one of them does.
create function core.subscribe(p_generation bigint, p_handlers text[], p_event_types jsonb, p_contexts text[], p_channels text[])
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_changed bigint;
begin
    -- One at a time, so that the version never runs behind what it stands for.
    perform from core.settings where key = 'subscriptions_version' for update;
    insert into core.subscriptions as s (generation, handler_name, event_types, context, channel)
    select p_generation, t.handler, array(select jsonb_array_elements_text(p_event_types -> (t.place::int - 1))), t.context, t.channel
    from unnest(p_handlers, p_contexts, p_channels) with ordinality as t(handler, context, channel, place)
    on conflict (generation, handler_name) do update
    set event_types = excluded.event_types, context = excluded.context, channel = excluded.channel, registered_at = now()
    where (s.event_types, s.context, s.channel) is distinct from (excluded.event_types, excluded.context, excluded.channel);
    get diagnostics v_changed = row_count;
    if v_changed > 0 then
        update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    end if;
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
end
$$;

create function core.worker_depart(p_identity text) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ delete from core.workers where identity = p_identity $$;

revoke all on function core.outbox_route(core.outbox), core.outbox_waits_for(jsonb, text[]),
    core.outbox_subscribed(core.outbox), core.subscribe(bigint, text[], jsonb, text[], text[]),
    core.unsubscribe(bigint, text, text, text, text), core.worker_announce(text, bigint, text[], text),
    core.worker_depart(text) from public;
