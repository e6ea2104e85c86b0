-- Publishing for every language that speaks SQL, inside the caller's own transaction. Functions only: runs in milliseconds.

-- The newest live generation, else 1.
create function core.default_generation() returns bigint
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((select max(generation) from core.deployments where state = 'live'), 1)
$$;

-- Whether somebody could ever claim the events of a generation: it was allocated, or it is the one that is there when none
-- was, or a worker of it has subscribed.
create function core.generation_exists(p_generation bigint) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select exists (select from core.deployments d where d.generation = p_generation)
        or p_generation = core.default_generation()
        or exists (select from core.subscriptions s where s.generation = p_generation)
$$;

-- Publishes one event and returns its id. Publishing an id that is already there changes nothing, so a
-- call whose answer was lost may be repeated. Refuses a generation that is retired or does not
-- exist. Errors name the argument.
create function core.outbox_publish(
    p_event_type      text,
    p_payload         jsonb       default '{}',
    p_source          text        default 'core',
    p_target          text        default null,
    p_generation      bigint      default null,
    p_event_id        uuid        default null,
    p_event_version   int         default 1,
    p_occurred_at     timestamptz default null,
    p_workspace_id    uuid        default null,
    p_idempotency_key text        default null,
    p_trace_context   text        default null,
    p_ordering_key    text        default null,
    p_channel         text        default null,
    p_class           text        default null,
    p_content_class   text        default 'default',
    p_retry_after     timestamptz default null
) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id         uuid   := coalesce(p_event_id, core.uuid_v7());
    v_generation bigint := coalesce(p_generation, core.default_generation());
    v_channel    text   := coalesce(p_channel, 'outbox_gen_' || v_generation || coalesce('_' || p_class, ''));
    v_large      boolean;
begin
    if p_event_type is null or p_event_type !~ '^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$' or octet_length(p_event_type) > 255 then
        raise exception 'p_event_type: expected dot-separated names such as scan.completed, got %', coalesce(quote_literal(p_event_type), 'null')
            using errcode = 'SL422';
    end if;
    if p_source is null or p_source !~ '^[a-z][a-z0-9_]*$' then
        raise exception 'p_source: expected a context name ([a-z][a-z0-9_]*), got %', coalesce(quote_literal(p_source), 'null')
            using errcode = 'SL422';
    end if;
    if p_target !~ '^[a-z][a-z0-9_]*$' then
        raise exception 'p_target: expected a context name ([a-z][a-z0-9_]*) or null for a broadcast, got %', quote_literal(p_target)
            using errcode = 'SL422';
    end if;
    if p_event_version is null or p_event_version < 1 then
        raise exception 'p_event_version: expected 1 or more, got %', coalesce(p_event_version::text, 'null') using errcode = 'SL422';
    end if;
    if v_generation < 1 then
        raise exception 'p_generation: expected 1 or more, got %', v_generation using errcode = 'SL422';
    end if;
    if p_generation is not null and not core.generation_exists(p_generation) then
        raise exception 'p_generation: generation % does not exist; allocate it with `sluice generation allocate %`, or publish to generation %',
            v_generation, v_generation, core.default_generation() using errcode = 'SL422';
    end if;
    -- An event that is there already may be published again: its first answer was lost.
    if exists (select from core.deployments d where d.generation = v_generation and d.state = 'retired')
       and not exists (select from core.outbox o where o.id = v_id) then
        raise exception 'generation % is retired: publish to a live one', v_generation using errcode = 'SL409';
    end if;
    if v_channel !~ '^[a-z_][a-z0-9_]*$' or octet_length(v_channel) > 63 then
        raise exception 'p_channel: expected at most 63 bytes of [a-z0-9_], got %', quote_literal(v_channel) using errcode = 'SL422';
    end if;
    if p_payload is null or jsonb_typeof(p_payload) <> 'object' then
        raise exception 'p_payload: expected a JSON object, got %', coalesce(jsonb_typeof(p_payload), 'null') using errcode = 'SL422';
    end if;
    -- Like the trigger of core.outbox: most payloads are small, and asking exactly costs more than the rest of this function. Two
    -- statements, because the planner may write out what stands in a branch of one.
    v_large := pg_column_size(p_payload || '{}') > 8000;
    if not v_large then
        v_large := octet_length(p_payload::text) > least(8000, (select s.value::bigint from core.settings s where s.key = 'payload_max_bytes'));
    end if;
    if v_large and core.payload_complaint(p_payload) is not null then
        raise exception 'p_%', replace(core.payload_complaint(p_payload), 'payload must', 'payload: must') using errcode = 'SL422';
    end if;
    if p_content_class is null then
        raise exception 'p_content_class: expected a name, got null' using errcode = 'SL422';
    end if;
    if octet_length(p_idempotency_key) not between 1 and 255 then
        raise exception 'p_idempotency_key: expected 1 to 255 bytes, got %', octet_length(p_idempotency_key) using errcode = 'SL422';
    end if;
    if octet_length(p_ordering_key) not between 1 and 255 then
        raise exception 'p_ordering_key: expected 1 to 255 bytes, got %', octet_length(p_ordering_key) using errcode = 'SL422';
    end if;
    if p_trace_context !~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$' then
        raise exception 'p_trace_context: expected a W3C traceparent, got %', quote_literal(p_trace_context) using errcode = 'SL422';
    end if;

    insert into core.outbox (id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
                             workspace_id, payload, idempotency_key, trace_context, ordering_key, retry_after)
    values (v_id, p_event_type, p_event_version, coalesce(p_occurred_at, now()), p_source, p_target, p_content_class, v_channel,
            v_generation, p_workspace_id, p_payload, coalesce(p_idempotency_key, v_id::text), p_trace_context, p_ordering_key,
            p_retry_after)
    -- Without a target: the months of a partitioned table have a key each.
    on conflict do nothing;
    return v_id;
end
$$;

revoke all on function core.default_generation(), core.generation_exists(bigint),
    core.outbox_publish(text, jsonb, text, text, bigint, uuid, int, timestamptz, uuid, text, text, text, text, text, text,
        timestamptz) from public;
