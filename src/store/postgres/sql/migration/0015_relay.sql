-- Deliveries through a broker: the switch, effects of messages, and what consumers report. Functions only: runs in
-- milliseconds.

-- Whether a broker carries the deliveries, audited. With a new version of the registry, so that whoever settles by the old
-- one decides again and sees it. What changes nothing is answered and not audited.
create function core.relay_switch(p_state text, p_broker text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old text;
    v_new text := p_state || case when p_state = 'off' then '' else ' ' || p_broker end;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    elsif p_state not in ('off', 'on', 'draining') or (p_state <> 'off' and p_broker not in ('nats', 'redis')) then
        raise exception 'state: expected off, on or draining with nats or redis, got %', quote_literal(v_new) using errcode = 'SL422';
    end if;
    perform from core.settings where key = 'subscriptions_version' for update;
    select s.value into v_old from core.settings s where s.key = 'relay';
    if v_old = v_new then
        return;
    end if;
    update core.settings set value = v_new where key = 'relay';
    update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'relay.' || p_state, p_reason, jsonb_build_object('from', v_old, 'to', v_new));
end
$$;

-- core.effect_enter for messages of a broker, which have no claim: the dedup row alone decides, whoever runs the handler and however
-- often the message comes.
create function core.effect_enter_relayed(p_handler text, p_ids uuid[], p_keys text[]) returns setof text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    with entered as (
        select t.id, t.key, t.place, row_number() over (partition by t.key order by t.place) = 1 as first
        from unnest(p_ids, p_keys) with ordinality as t(id, key, place)),
    recorded as (
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select p_handler, e.key, e.id from entered e where e.first order by e.key collate "C"
        on conflict do nothing
        returning idempotency_key)
    select case when e.first and e.key in (select r.idempotency_key from recorded r) then 'fresh' else 'handled' end
    from entered e order by e.place
$$;

-- What became of relayed events at the consumers of a broker: dedup rows of those that were handled, progress of those that
-- are tried again, and failed where a handler is out of attempts. One answer for each, in order:
--   done    written; the message is over, or comes again when it is due
--   early   the relay has not settled the event yet: say it again later
--   stale   the event was replayed meanwhile, or is gone: its next message, if any, is another one
create function core.relay_report(
    p_ids uuid[], p_replays bigint[], p_handlers text[], p_keys text[], p_handled boolean[], p_failed boolean[], p_attempts bigint[],
    p_errors text[], p_classes text[], p_fingerprints text[], p_progress jsonb[]
) returns setof text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
    -- Not the row type: the table may be exchanged for a partitioned one.
    v_event record;
    v_left  jsonb;
begin
    insert into core.event_handled (handler_name, idempotency_key, event_id)
    select t.handler, t.key, t.id from unnest(p_ids, p_handlers, p_keys, p_handled) as t(id, handler, key, handled)
    where t.handled order by t.handler collate "C", t.key collate "C"
    on conflict do nothing;
    -- One order for everybody, so that two reports never wait for each other in a circle.
    perform from core.outbox o
    where o.id in (select t.id from unnest(p_ids, p_handled) as t(id, handled) where not t.handled) order by o.id for update;
    for i in 1 .. cardinality(p_ids) loop
        if p_handled[i] then
            return next 'done';
            continue;
        end if;
        select * into v_event from core.outbox o where o.id = p_ids[i];
        if not found or v_event.deleted_at is not null or core.last_cycle(v_event.failure_history) <> p_replays[i] then
            return next 'stale';
        elsif v_event.status in ('pending', 'in_flight') then
            return next 'early';
        elsif coalesce(v_event.claimed_by, '') not like '%/relay:%' then
            return next 'stale';
        else
            v_left := coalesce((select jsonb_agg(w order by place) from jsonb_array_elements(v_event.progress) with ordinality as e(w, place)
                                where w ->> 'handler' <> p_handlers[i]), '[]'::jsonb) || p_progress[i];
            if p_failed[i] and v_event.status = 'delivered' then
                update core.outbox o
                set status = 'failed', progress = v_left, attempts = greatest(o.attempts, p_attempts[i]), last_error = p_errors[i],
                    failure_class = p_classes[i], fingerprint = p_fingerprints[i],
                    first_failed_at = coalesce(o.first_failed_at, now()), failed_at = now(), claimed_at = now(),
                    group_id = core.failure_group(o.event_type, o.source, o.target, p_classes[i], p_fingerprints[i], p_errors[i])
                where o.id = p_ids[i];
            else
                -- Of a dead letter the row goes on telling of the first failure; the others are in its progress.
                update core.outbox o
                set progress = v_left, attempts = greatest(o.attempts, p_attempts[i]),
                    first_failed_at = coalesce(o.first_failed_at, case when p_attempts[i] > 0 then now() end)
                where o.id = p_ids[i];
            end if;
            return next 'done';
        end if;
    end loop;
end
$$;

revoke all on function core.relay_switch(text, text, text, text, text), core.effect_enter_relayed(text, uuid[], text[]),
    core.relay_report(uuid[], bigint[], text[], text[], boolean[], boolean[], bigint[], text[], text[], text[], jsonb[]) from public;
