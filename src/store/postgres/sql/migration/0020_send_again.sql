-- A dead letter for one handler, or with another payload; a delivered event for one handler again. Functions only: runs in
-- milliseconds.

-- The latest entry of an event's history gets these members as well.
create function core.failure_history_note(p_event_id uuid, p_members jsonb) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
    update core.outbox set failure_history = jsonb_set(failure_history, '{-1}', (failure_history -> -1) || p_members) where id = p_event_id
$$;

-- The handlers that subscribe to an event in its generation.
create function core.outbox_handlers(p_event_id uuid) returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select s.handler_name from core.subscriptions s join core.outbox o on o.id = p_event_id and s.generation = o.generation
    where (s.context is null or o.target is null or s.context = o.target)
      and (s.channel is null or s.channel = o.channel)
      and exists (
        select from unnest(s.event_types) as p
        where p = o.event_type or (right(p, 1) = '*' and starts_with(o.event_type, left(p, -1))))
    order by s.handler_name
$$;

-- Sends an event again to one handler: a dead letter (p_from failed), or one that was delivered (p_from delivered). The
-- handler's dedup row is set aside, the audit keeps it; the others do not run, and of a dead letter they stay failed. While a
-- broker carries the deliveries its consumers decide who runs, so that it is refused. Index outbox_pkey.
create function core.outbox_send_to(
    p_event_id uuid, p_handler text, p_from text, p_new_generation bigint, p_actor text, p_surface text, p_reason text
) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event    core.outbox;
    v_actor    text := coalesce(nullif(p_actor, ''), 'sql-direct');
    v_done     record;
    v_now      text := to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    v_others   jsonb;
    v_all      text[];
    v_handled  timestamptz;
begin
    perform core.outbox_lock(p_event_id, p_reason);
    select * into v_event from core.outbox where id = p_event_id;
    if p_new_generation is null or p_new_generation < 1 then
        raise exception 'p_new_generation: expected 1 or more, got %', coalesce(p_new_generation::text, 'null') using errcode = 'SL422';
    elsif p_from not in ('failed', 'delivered') then
        raise exception 'p_from: expected failed or delivered, got %', coalesce(p_from, 'null') using errcode = 'SL422';
    elsif v_event.status <> p_from then
        raise exception 'event % is %, only a % event can be %', p_event_id, v_event.status, p_from,
            case p_from when 'failed' then 'replayed' else 'sent again' end using errcode = 'SL409';
    elsif v_event.deleted_at is not null then
        raise exception 'event % is %', p_event_id, case p_from when 'failed' then 'discarded: restore it first' else 'past its retention' end
            using errcode = 'SL409';
    elsif (select s.value <> 'off' from core.settings s where s.key = 'relay') then
        raise exception 'a broker carries the deliveries, and its consumers take an event whole: replay it without a handler, or switch the relay off first'
            using errcode = 'SL409';
    end if;
    select * into v_done from core.outbox_reset(array[p_event_id], p_new_generation, v_actor, p_reason, null);
    v_all := array(select core.outbox_handlers(p_event_id));
    if p_handler is null or p_handler <> all (v_all) then
        raise exception 'handler: % does not subscribe to % in generation %; those that do: %', coalesce(p_handler, 'null'), v_event.event_type,
            p_new_generation, coalesce(nullif(array_to_string(v_all, ', '), ''), 'none') using errcode = 'SL422';
    end if;
    delete from core.event_handled h
    where h.handler_name = p_handler collate "C" and h.idempotency_key = v_event.idempotency_key collate "C"
    returning h.handled_at into v_handled;
    -- Who has not handled it, and is not meant, is set aside: with its own failure, or, where the event had one handler, the row's.
    select jsonb_agg(jsonb_strip_nulls(coalesce(
               (select w from jsonb_array_elements(v_event.progress) as w where w ->> 'handler' = s.handler_name),
               case when p_from = 'failed' and v_event.progress is null and s.registered_at <= v_event.failed_at then
                   jsonb_build_object('handler', s.handler_name, 'attempts', v_event.attempts, 'last_error', v_event.last_error,
                                      'error_class', v_event.failure_class, 'fingerprint', v_event.fingerprint)
               else jsonb_build_object('handler', s.handler_name, 'attempts', 0) end))
               || jsonb_build_object('due', v_now, 'exhausted', true, 'aside', true) order by s.handler_name)
    into v_others
    from core.subscriptions s
    where s.generation = p_new_generation and s.handler_name = any (v_all) and s.handler_name <> p_handler
      and not exists (select from core.event_handled h
                      where h.handler_name = s.handler_name collate "C" and h.idempotency_key = v_event.idempotency_key collate "C");
    update core.outbox
    set progress = jsonb_build_array(jsonb_build_object('handler', p_handler, 'attempts', 0, 'due', v_now)) || coalesce(v_others, '[]')
    where id = p_event_id;
    perform core.failure_history_note(p_event_id, jsonb_build_object('handler', p_handler) || case p_from
        when 'failed' then '{}'::jsonb else jsonb_build_object('failed_at', null, 'delivered_at', v_event.delivered_at) end);
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (v_actor, p_surface, case p_from when 'failed' then 'replay' else 'resend' end, p_event_id, p_reason,
            jsonb_build_object('cycle', v_done.cycle, 'from_generation', v_done.from_generation, 'to_generation', p_new_generation,
                               'handler', p_handler, 'handled_at', v_handled));
    return jsonb_build_object('cycle', v_done.cycle, 'attempts', v_done.attempts, 'from_generation', v_done.from_generation);
end
$$;

-- Replays a dead letter with another payload, in place. The history keeps the one before; so that it stays bounded, an event
-- whose versions add up to more than p_most bytes is refused. For the owner of the schema: no role of
-- `sluice db grant` may call it. Index outbox_pkey.
create function core.outbox_replay_edited(p_event_id uuid, p_payload jsonb, p_new_generation bigint, p_most bigint, p_actor text, p_surface text, p_reason text)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event core.outbox;
    v_done  jsonb;
begin
    perform core.outbox_lock(p_event_id, p_reason);
    select * into v_event from core.outbox where id = p_event_id;
    if p_payload is null or jsonb_typeof(p_payload) <> 'object' then
        raise exception 'payload: expected a JSON object' using errcode = 'SL422';
    end if;
    v_done := core.outbox_replay_as(p_event_id, p_new_generation, p_actor, p_surface, p_reason);
    update core.outbox set payload = p_payload where id = p_event_id;
    perform core.failure_history_note(p_event_id, jsonb_build_object('payload', v_event.payload));
    if (select octet_length(o.failure_history::text) > p_most from core.outbox o where o.id = p_event_id) then
        raise exception 'event % was edited too often: its history would have more than % bytes; publish a new event instead', p_event_id, p_most
            using errcode = 'SL409';
    end if;
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (v_done ->> 'replayed_by', p_surface, 'edit', p_event_id, p_reason, jsonb_build_object('cycle', v_done -> 'cycle'));
    return v_done;
end
$$;

revoke all on function core.failure_history_note(uuid, jsonb), core.outbox_handlers(uuid),
    core.outbox_send_to(uuid, text, text, bigint, text, text, text),
    core.outbox_replay_edited(uuid, jsonb, bigint, bigint, text, text, text) from public;
