-- The gate at the end of a generation, in the database: nobody publishes into a retired generation, and none is retired
-- while a transaction that is older than its drain may still commit events into it. Functions only: runs in milliseconds.

-- The transactions that began before generation p_generation was drained and may still commit events into it. A
-- prepared transaction (gid) counts when it has written to core.outbox: it does nothing else any more.
--
-- PostgreSQL hides from ordinary roles when another role's transaction began. Of such a session the locks and the
-- transaction ids are public, and what cannot be told apart counts: it has written to core.outbox, or it runs under an
-- id or a snapshot that is as old as the drain. A younger one reads that the generation is draining when it publishes.
create function core.generation_publishers(p_generation bigint)
returns table (pid int, gid text, username text, application text, since timestamptz)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    with drain as (
        select d.draining_at, d.xmin as xid from core.deployments d where d.generation = p_generation and d.state = 'draining'),
    writers as (
        select l.pid, l.virtualtransaction from pg_locks l
        where l.locktype = 'relation' and l.relation = 'core.outbox'::regclass and l.mode = 'RowExclusiveLock' and l.granted
          and l.database = (select d.oid from pg_database d where d.datname = current_database())),
    sessions as (
        select a.pid, a.usename, a.application_name, a.backend_type, a.state, a.xact_start, a.backend_xid, a.backend_xmin,
               -- In no transaction it has no start either; with one that it does not show it has a lock on its own id.
               a.xact_start is null and exists (
                   select from pg_locks l where l.pid = a.pid and l.locktype = 'virtualxid' and l.granted) as hidden
        from pg_stat_activity a
        where a.datname = current_database() and a.usesysid is not null and a.pid <> pg_backend_pid())
    select s.pid, null, s.usename::text, coalesce(s.application_name, ''), s.xact_start
    from sessions s cross join drain d
    where coalesce(s.backend_type, 'client backend') = 'client backend'
      and coalesce(s.state, '') <> 'idle in transaction (aborted)'
      -- A worker that sleeps: it waits for the lock `awake` of doorbell mode when-idle, in one statement for hours.
      and not exists (
        select from pg_locks l where l.pid = s.pid and l.locktype = 'advisory' and l.classid = 1936487786 and not l.granted)
      and (s.xact_start <= d.draining_at
           or ((s.hidden or s.xact_start is not null) and age(s.backend_xid) >= age(d.xid))
           or (s.hidden and (age(s.backend_xmin) >= age(d.xid) or exists (select from writers w where w.pid = s.pid))))
    union all
    select 0, p.gid, p.owner::text, '', p.prepared
    from pg_prepared_xacts p cross join drain d
    where p.database = current_database()
      and exists (
        select from pg_locks t join writers w on w.virtualtransaction = t.virtualtransaction
        where t.locktype = 'transactionid' and t.transactionid = p.transaction)
    order by 5 nulls first, 1
$$;

-- As before; refuses to retire a generation into which an open transaction may still publish, and notes the time of a
-- drain as late as it can: whoever began before it has to end first.
create or replace function core.generation_move(p_generation bigint, p_state text, p_actor text, p_surface text, p_reason text)
returns core.deployments
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old  core.deployments;
    v_row  core.deployments;
    v_open text;
begin
    select * into v_old from core.deployments where generation = p_generation for update;
    if not found then
        raise exception 'generation % is not allocated', p_generation using errcode = 'SL404';
    elsif (v_old.state, p_state) not in
        (('allocated', 'live'), ('live', 'draining'), ('draining', 'live'), ('draining', 'retired')) then
        raise exception 'generation % is % and cannot become %', p_generation, v_old.state, p_state using errcode = 'SL409';
    end if;
    if p_state = 'retired' then
        select string_agg(coalesce('prepared transaction ' || quote_literal(p.gid) || ' of user ' || p.username,
                                   'pid ' || p.pid || ' (' || coalesce(nullif(p.application, '') || ', ', '') || 'user '
                                       || coalesce(p.username, 'unknown') || ')')
                          || coalesce(' since ' || to_char(p.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ''), ', ')
        into v_open
        from core.generation_publishers(p_generation) p;
        if v_open is not null then
            raise exception 'generation % cannot be retired: a transaction older than its drain may still publish into it: %',
                p_generation, v_open using errcode = 'SL409';
        end if;
    end if;
    update core.deployments
    set state = p_state, changed_by = p_actor,
        activated_at = case when p_state = 'live' then now() else activated_at end,
        draining_at = case when p_state = 'draining' then clock_timestamp() when p_state = 'live' then null else draining_at end,
        retired_at = case when p_state = 'retired' then now() else retired_at end
    where generation = p_generation
    returning * into v_row;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'generation.' || case p_state when 'live' then 'activate' when 'draining' then 'drain' else 'retire' end,
            coalesce(p_reason, ''), jsonb_build_object('generation', p_generation, 'from', v_old.state, 'to', p_state));
    return v_row;
end
$$;

-- As before; refuses a generation that is retired.
create or replace function core.outbox_publish(
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
    v_limit      int;
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
    if v_generation < 1 then
        raise exception 'p_generation: expected 1 or more, got %', v_generation using errcode = 'SL422';
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
    select value::int into v_limit from core.settings where key = 'payload_max_bytes';
    if octet_length(p_payload::text) > v_limit then
        raise exception 'p_payload: % bytes, the limit is % (core.settings, payload_max_bytes)', octet_length(p_payload::text), v_limit
            using errcode = 'SL422';
    end if;
    if p_trace_context !~ '^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$' then
        raise exception 'p_trace_context: expected a W3C traceparent, got %', quote_literal(p_trace_context) using errcode = 'SL422';
    end if;

    insert into core.outbox (id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
                             workspace_id, payload, idempotency_key, trace_context, ordering_key, retry_after)
    values (v_id, p_event_type, p_event_version, coalesce(p_occurred_at, now()), p_source, p_target, p_content_class, v_channel,
            v_generation, p_workspace_id, p_payload, coalesce(p_idempotency_key, v_id::text), p_trace_context, p_ordering_key,
            p_retry_after)
    on conflict (id) do nothing;
    return v_id;
end
$$;

revoke all on function core.generation_publishers(bigint) from public;
