CREATE SCHEMA core;
CREATE FUNCTION core.attempts_record(p_attempts jsonb, p_except uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
    v_most int := greatest(coalesce((select s.value::int from core.settings s where s.key = 'attempts_kept'), 20), 2);
begin
    insert into core.attempts (event_id, number, claim_seq, replay, handler_name, worker, started_at, duration_us, outcome, status_code,
                               error, response, trace_id)
    select o.id, coalesce((select max(l.number) from core.attempts l where l.event_id = o.id), 0)
                 + row_number() over (partition by o.id order by a.place),
           (a.v ->> 'claim_seq')::bigint, core.last_cycle(o.failure_history), nullif(a.v ->> 'handler_name', ''), a.v ->> 'worker',
           (a.v ->> 'started_at')::timestamptz, (a.v ->> 'duration_us')::bigint, a.v ->> 'outcome',
           nullif((a.v ->> 'status_code')::int, 0), nullif(a.v ->> 'error', ''), nullif(a.v ->> 'response', ''),
           coalesce(nullif(a.v ->> 'trace_id', ''), substr(o.trace_context, 4, 32))
    from jsonb_array_elements(p_attempts) with ordinality as a(v, place)
    join core.outbox o on o.id = (a.v ->> 'event_id')::uuid
    where o.id <> all (p_except)
      and ((a.v ->> 'claim_seq')::bigint > 0 or not exists (
          select from core.attempts l
          where l.event_id = o.id and l.claim_seq = 0 and l.worker = a.v ->> 'worker' and l.handler_name = a.v ->> 'handler_name'
            and l.started_at = (a.v ->> 'started_at')::timestamptz));
    delete from core.attempts t
    using (select l.event_id, max(l.number) as latest from core.attempts l
           where l.event_id in (select (a.v ->> 'event_id')::uuid from jsonb_array_elements(p_attempts) as a(v))
           group by l.event_id) as own
    where t.event_id = own.event_id and t.number > 1 and t.number <= own.latest - (v_most - 1);
end
$$;
CREATE FUNCTION core.attempts_sweep(p_age interval, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_rows bigint;
begin
    -- Index attempts_age, and outbox_pkey once per row: as a value, so that no plan reads the whole table for it.
    delete from core.attempts a
    where a.ctid = any (array(
        select l.ctid from core.attempts l
        where l.recorded_at <= now() - p_age and (select o.id from core.outbox o where o.id = l.event_id) is null
        limit p_limit for update skip locked));
    get diagnostics v_rows = row_count;
    return v_rows;
end
$$;
CREATE FUNCTION core.audit_refuse() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    raise exception 'core.audit is append-only' using errcode = 'SL403';
end
$$;
CREATE FUNCTION core.channel_in(p_channel text, p_from bigint, p_to bigint) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    select case when p_channel = 'outbox_gen_' || p_from or p_channel like 'outbox\_gen\_' || p_from || '\_%'
                then 'outbox_gen_' || p_to || substr(p_channel, length('outbox_gen_' || p_from) + 1)
                else p_channel end
$$;
CREATE FUNCTION core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[]) RETURNS TABLE(low bigint, first_open bigint, upto bigint, busy boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
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
CREATE FUNCTION core.claim_holes(p_generation bigint, p_low bigint, p_upto bigint, p_interests text[]) RETURNS TABLE(after bigint, upto bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
begin
    -- Index outbox_scan.
    return query
    select g.before, g.seq - 1
    from (
        select o.seq, lag(o.seq, 1, p_low) over (order by o.seq) as before
        from (
            (select o.seq from core.outbox o
             where o.generation = p_generation and o.seq > p_low and o.seq <= p_upto
               and not (o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                        and (p_interests is null or core.outbox_route(o) like any (p_interests)))
             order by o.seq)
            union all
            select p_upto + 1) o) g
    where g.seq - g.before > 1
    limit 10000;
end
$$;
CREATE FUNCTION core.claim_late(p_generation bigint, p_afters bigint[], p_uptos bigint[], p_interests text[]) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'on'
    SET jit TO 'off'
    AS $$
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
CREATE FUNCTION core.claim_reserve(p_group text, p_after bigint, p_length bigint, p_top bigint) RETURNS TABLE(after bigint, granted boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.claims_close(p_batches bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    -- Index outbox_scan, once per number.
    delete from core.claims c
    where c.batch = any (p_batches) and not exists (
        select from unnest(c.seqs) as n(seq), lateral (
            select from core.outbox o
            where o.generation = c.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = c.worker
            offset 0) o)
$$;
CREATE FUNCTION core.claims_forgotten(p_batches bigint[]) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
begin
    return query
    select b.batch from unnest(p_batches) as b(batch)
    where b.batch <> all (array(select c.batch from core.claims c where c.batch = any (p_batches)));
end
$$;
CREATE FUNCTION core.uuid_v7() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    AS $$
    select encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                from 1 for 6),
            52, 1), 53, 1),
        'hex')::uuid
$$;
CREATE SEQUENCE core.outbox_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE core.outbox (
    id uuid DEFAULT core.uuid_v7() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('core.outbox_seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    generation bigint NOT NULL,
    claim_seq bigint DEFAULT 0 NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    event_version integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failure_history jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    channel text DEFAULT 'outbox_default'::text NOT NULL,
    event_type text NOT NULL,
    source text NOT NULL,
    target text,
    content_class text DEFAULT 'default'::text NOT NULL,
    ordering_key text,
    workspace_id uuid,
    trace_context text,
    claimed_at timestamp with time zone,
    claimed_by text,
    delivered_at timestamp with time zone,
    retry_after timestamp with time zone,
    blocked_since timestamp with time zone,
    first_failed_at timestamp with time zone,
    last_error text,
    failure_class text,
    fingerprint text,
    deleted_at timestamp with time zone,
    progress jsonb,
    lane text,
    failed_at timestamp with time zone,
    group_id bigint,
    restored_at timestamp with time zone,
    idempotency_key text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL
)
WITH (fillfactor='30', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
COMMENT ON TABLE core.outbox IS 'Events through their whole life: pending, in_flight, delivered, failed';
CREATE FUNCTION core.dead_matches(p_event core.outbox, p_filter jsonb) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select (p_filter ->> 'id' is null or p_event.id = (p_filter ->> 'id')::uuid)
       and (p_filter ->> 'generation' is null or p_event.generation = (p_filter ->> 'generation')::bigint)
       and (p_filter ->> 'workspace_id' is null or p_event.workspace_id = (p_filter ->> 'workspace_id')::uuid)
       and (p_filter ->> 'ordering_key' is null or p_event.ordering_key = p_filter ->> 'ordering_key')
       and (p_filter ->> 'text' is null or strpos(lower(p_event.last_error), lower(p_filter ->> 'text')) > 0)
       and (p_filter ->> 'since' is null or p_event.failed_at >= (p_filter ->> 'since')::timestamptz)
       and (p_filter ->> 'until' is null or p_event.failed_at < (p_filter ->> 'until')::timestamptz)
       and (p_filter -> 'except' is null or not (p_filter -> 'except') ? p_event.id::text)
       and (p_filter ->> 'trace_id' is null or substr(p_event.trace_context, 4, 32) = p_filter ->> 'trace_id')
       and (p_filter ->> 'payload' is null or p_event.payload @@ (p_filter ->> 'payload')::jsonpath)
$$;
CREATE FUNCTION core.default_generation() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce((select max(generation) from core.deployments where state = 'live'), 1)
$$;
CREATE FUNCTION core.effect_enter(p_handler text, p_tids tid[], p_from timestamp with time zone, p_to timestamp with time zone, p_ids uuid[], p_claim_seqs bigint[], p_keys text[]) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'on'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'off'
    SET enable_tidscan TO 'on'
    SET jit TO 'off'
    AS $$
declare
    v_held  uuid[];
    v_fresh uuid[];
    v_rows  bigint;
begin
    select count(*) into v_rows
    from core.outbox o join unnest(p_ids, p_claim_seqs) as t(id, claim_seq) on o.id = t.id and o.claim_seq = t.claim_seq
    where o.ctid = any (p_tids) and o.occurred_at >= p_from and o.occurred_at <= p_to and o.status = 'in_flight';
    if v_rows = cardinality(p_ids) then
        v_held := p_ids;
    else
        v_held := array(
            select o.id from core.outbox o join unnest(p_ids, p_claim_seqs) as t(id, claim_seq) on o.id = t.id and o.claim_seq = t.claim_seq
            where o.id = any (p_ids) and o.status = 'in_flight');
    end if;
    -- Most often none of them was handled before: without ON CONFLICT each row is inserted once and not probed for first.
    if cardinality(v_held) = cardinality(p_ids) then
        begin
            insert into core.event_handled (handler_name, idempotency_key, event_id)
            select p_handler, t.key, t.id from unnest(p_ids, p_keys) as t(id, key) order by t.key collate "C";
            return;
        exception when unique_violation then
            null;
        end;
    end if;
    with recorded as (
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select p_handler, t.key, t.id from unnest(p_ids, p_keys) as t(id, key) join unnest(v_held) as h(id) on h.id = t.id
        order by t.key collate "C"
        on conflict do nothing
        returning event_id)
    select coalesce(array_agg(r.event_id), '{}') into v_fresh from recorded r;
    return query
    select case when t.id = any (v_fresh) then 'fresh' when t.id = any (v_held) then 'handled' else 'fenced' end
    from unnest(p_ids) with ordinality as t(id, place)
    order by t.place;
end
$$;
CREATE FUNCTION core.effect_enter_relayed(p_handler text, p_ids uuid[], p_keys text[]) RETURNS SETOF text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.failure_acknowledge(p_fingerprint text, p_known boolean, p_actor text, p_surface text, p_reason text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_groups bigint;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    end if;
    update core.failure_groups
    set acknowledged_at = case when p_known then now() end,
        acknowledged_by = case when p_known then p_actor else '' end,
        acknowledged_reason = case when p_known then p_reason else '' end
    where fingerprint = p_fingerprint;
    get diagnostics v_groups = row_count;
    if v_groups = 0 then
        raise exception 'nothing has failed with the fingerprint %', p_fingerprint using errcode = 'SL404';
    end if;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, case when p_known then 'acknowledge' else 'unacknowledge' end, v_groups, p_reason,
            jsonb_build_object('fingerprint', p_fingerprint));
    return v_groups;
end
$$;
CREATE FUNCTION core.failure_group(p_event_type text, p_source text, p_target text, p_class text, p_fingerprint text, p_error text) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_class text := coalesce(p_class, 'Error');
    v_print text := coalesce(p_fingerprint, '');
    v_id    bigint;
    v_fresh boolean;
begin
    for v_try in 1..3 loop
        select c.id, c.last_seen_at > now() - interval '1 day' into v_id, v_fresh from core.failure_groups c
        where c.fingerprint = v_print and c.event_type = p_event_type and c.failure_class = v_class and c.source = p_source
          and coalesce(c.target, '') = coalesce(p_target, '');
        exit when v_fresh;
        perform pg_advisory_xact_lock(1936487787);
        if v_id is not null then
            -- Not found now: core.prune has just taken it.
            update core.failure_groups c set last_seen_at = now() where c.id = v_id;
            exit when found;
            continue;
        end if;
        insert into core.failure_groups (event_type, source, target, failure_class, fingerprint, sample_error)
        values (p_event_type, p_source, p_target, v_class, v_print, coalesce(p_error, ''))
        on conflict do nothing
        returning id into v_id;
        exit when found;
    end loop;
    return v_id;
end
$$;
CREATE FUNCTION core.failure_history_after(p_event core.outbox, p_new_generation bigint, p_actor text, p_reason text, p_operation uuid, p_most integer) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case when jsonb_array_length(h.entries) <= p_most then h.entries
                else (select jsonb_agg(e.entry order by e.place) from jsonb_array_elements(h.entries) with ordinality as e(entry, place)
                      where e.place = 1 or e.place > jsonb_array_length(h.entries) - p_most + 1) end
    from (select p_event.failure_history || (jsonb_build_object(
        'cycle', coalesce((p_event.failure_history -> -1 ->> 'cycle')::int, 0) + 1,
        'attempts', p_event.attempts,
        'last_error', p_event.last_error,
        'first_failed_at', p_event.first_failed_at,
        'failed_at', p_event.claimed_at,
        'replayed_at', now(),
        'replayed_by', p_actor,
        'error_class', p_event.failure_class,
        'fingerprint', p_event.fingerprint,
        'from_generation', p_event.generation,
        'to_generation', p_new_generation,
        'reason', nullif(p_reason, '')) || case when p_operation is null then '{}'::jsonb
                                             else jsonb_build_object('operation_id', p_operation) end) as entries) h
$$;
CREATE FUNCTION core.failure_history_note(p_event_id uuid, p_members jsonb) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update core.outbox set failure_history = jsonb_set(failure_history, '{-1}', (failure_history -> -1) || p_members) where id = p_event_id
$$;
CREATE FUNCTION core.failure_note(p_fingerprint text, p_actor text, p_surface text, p_note text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_groups bigint;
begin
    if coalesce(p_note, '') = '' then
        raise exception 'note: say something' using errcode = 'SL422';
    end if;
    select count(*) into v_groups from core.failure_groups c where c.fingerprint = p_fingerprint;
    if v_groups = 0 then
        raise exception 'nothing has failed with the fingerprint %', p_fingerprint using errcode = 'SL404';
    end if;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, 'note', v_groups, p_note, jsonb_build_object('fingerprint', p_fingerprint));
    return v_groups;
end
$$;
CREATE FUNCTION core.filter_remove(p_name text, p_actor text, p_surface text, p_reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_filter text;
begin
    delete from core.saved_filters f where f.name = p_name returning f.filter into v_filter;
    if v_filter is null then
        raise exception 'no filter is saved as %', p_name using errcode = 'SL404';
    end if;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, 'filter.remove', 1, coalesce(p_reason, ''), jsonb_build_object('name', p_name, 'filter', v_filter));
end
$$;
CREATE TABLE core.saved_filters (
    name text NOT NULL,
    filter text NOT NULL,
    saved_by text NOT NULL,
    saved_at timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE core.saved_filters IS 'Filters that the team keeps under a name; changes are in core.audit';
CREATE FUNCTION core.filter_save(p_name text, p_filter text, p_actor text, p_surface text, p_reason text) RETURNS core.saved_filters
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_saved core.saved_filters;
begin
    if coalesce(p_name, '') = '' or coalesce(p_filter, '') = '' then
        raise exception 'a saved filter needs a name and a filter' using errcode = 'SL422';
    end if;
    insert into core.saved_filters as f (name, filter, saved_by) values (p_name, p_filter, p_actor)
    on conflict (name) do update set filter = excluded.filter, saved_by = excluded.saved_by, saved_at = now()
    returning f.* into v_saved;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, 'filter.save', 1, coalesce(p_reason, ''), jsonb_build_object('name', p_name, 'filter', p_filter));
    return v_saved;
end
$$;
CREATE TABLE core.deployments (
    generation bigint NOT NULL,
    state text DEFAULT 'allocated'::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    changed_by text DEFAULT SESSION_USER NOT NULL,
    allocated_at timestamp with time zone DEFAULT now() NOT NULL,
    activated_at timestamp with time zone,
    draining_at timestamp with time zone,
    retired_at timestamp with time zone,
    CONSTRAINT deployments_generation_check CHECK ((generation >= 1)),
    CONSTRAINT deployments_state_known CHECK ((state = ANY (ARRAY['allocated'::text, 'live'::text, 'draining'::text, 'retired'::text])))
);
COMMENT ON TABLE core.deployments IS 'Deployment generations: allocated, live, draining, retired';
CREATE FUNCTION core.generation_allocate(p_wanted bigint, p_note text, p_actor text, p_surface text, p_reason text) RETURNS core.deployments
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_row core.deployments;
begin
    if p_wanted < 1 then
        raise exception 'generation: expected 1 or more, got %', p_wanted using errcode = 'SL422';
    end if;
    lock table core.deployments in share row exclusive mode;
    insert into core.deployments (generation, note, changed_by)
    values (coalesce(p_wanted, (select coalesce(max(generation), 0) + 1 from core.deployments)), coalesce(p_note, ''), p_actor)
    on conflict do nothing
    returning * into v_row;
    if not found then
        raise exception 'generation % is already allocated', p_wanted using errcode = 'SL409';
    end if;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'generation.allocate', coalesce(p_reason, ''), jsonb_build_object('generation', v_row.generation));
    return v_row;
end
$$;
CREATE FUNCTION core.generation_exists(p_generation bigint) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select exists (select from core.deployments d where d.generation = p_generation)
        or p_generation = core.default_generation()
        or exists (select from core.subscriptions s where s.generation = p_generation)
$$;
CREATE FUNCTION core.generation_move(p_generation bigint, p_state text, p_actor text, p_surface text, p_reason text) RETURNS core.deployments
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_old  core.deployments;
    v_row  core.deployments;
    v_open text;
begin
    select * into v_old from core.deployments where generation = p_generation for update;
    if not found then
        raise exception 'generation % is not allocated', p_generation using errcode = 'SL404';
    elsif v_old.state = p_state then
        raise exception 'generation % is already %', p_generation, p_state using errcode = 'SL409';
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
CREATE FUNCTION core.generation_not_retired(p_generation bigint) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if exists (select from core.deployments d where d.generation = p_generation and d.state = 'retired') then
        raise exception 'generation % is retired, and nobody would claim its events: name a live one, or make one live', p_generation
            using errcode = 'SL409';
    end if;
end
$$;
CREATE FUNCTION core.generation_publishers(p_generation bigint) RETURNS TABLE(pid integer, gid text, username text, application text, since timestamp with time zone)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE TABLE core.failure_groups (
    id bigint NOT NULL,
    event_type text NOT NULL,
    source text NOT NULL,
    target text,
    failure_class text NOT NULL,
    fingerprint text NOT NULL,
    sample_error text NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    replayed bigint DEFAULT 0 NOT NULL,
    acknowledged_at timestamp with time zone,
    acknowledged_by text DEFAULT ''::text NOT NULL,
    acknowledged_reason text DEFAULT ''::text NOT NULL
);
COMMENT ON TABLE core.failure_groups IS 'Groups of failures: who knows about each, and how often it was replayed';
CREATE FUNCTION core.group_matches(p_group core.failure_groups, p_filter jsonb) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select (p_filter ->> 'event_type' is null or p_group.event_type = p_filter ->> 'event_type')
       and (p_filter ->> 'type_prefix' is null or starts_with(p_group.event_type, p_filter ->> 'type_prefix'))
       and (p_filter ->> 'source' is null or p_group.source = p_filter ->> 'source')
       and (p_filter ->> 'target' is null or p_group.target = p_filter ->> 'target')
       -- `timeout` finds TimeoutError.
       and (p_filter ->> 'error_class' is null
            or lower(p_group.failure_class) in (lower(p_filter ->> 'error_class'), lower(p_filter ->> 'error_class') || 'error'))
       and (p_filter ->> 'fingerprint' is null or p_group.fingerprint = p_filter ->> 'fingerprint')
$$;
CREATE FUNCTION core.handled_among(p_handlers text[], p_keys text[]) RETURNS TABLE(handler_name text, idempotency_key text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
    -- Index event_handled_pkey, once per pair.
    return query
    select k.handler_name, k.idempotency_key
    from unnest(p_handlers, p_keys) as k(handler_name, idempotency_key), lateral (
        select from core.event_handled h
        where h.handler_name = k.handler_name and h.idempotency_key = k.idempotency_key
        offset 0) h;
end
$$;
CREATE FUNCTION core.histogram_add(p_one text, p_other text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(string_agg(s.bucket || ':' || s.events, ' ' order by s.bucket), '')
    from (select split_part(e, ':', 1)::int as bucket, sum(split_part(e, ':', 2)::bigint) as events
          from unnest(string_to_array(p_one || ' ' || p_other, ' ')) as e where e <> '' group by 1) s
$$;
CREATE FUNCTION core.history_record(p_rows jsonb, p_minutes_kept interval, p_hours_kept interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- Figures, not events: a commit that the server forgets costs a minute of them.
    perform set_config('synchronous_commit', 'off', true);
    insert into core.delivery_history as h
        (hourly, at, kind, name, delivered, replayed, failed, retried, first, later, replays, newest, backlog, lag_ms)
    select s.hourly, date_trunc(case when s.hourly then 'hour' else 'minute' end, r.at, 'UTC') as at, r.kind, r.name, sum(r.delivered),
           sum(r.replayed), sum(r.failed), sum(r.retried), core.histogram_add(string_agg(r.first, ' '), ''),
           core.histogram_add(string_agg(r.later, ' '), ''), core.histogram_add(string_agg(r.replays, ' '), ''), max(r.newest),
           max(r.backlog), max(r.lag_ms)
    from jsonb_to_recordset(p_rows) as r(at timestamptz, kind text, name text, delivered bigint, replayed bigint, failed bigint,
                                         retried bigint, first text, later text, replays text, newest bigint, backlog bigint, lag_ms bigint)
    cross join (values (false), (true)) as s(hourly)
    group by 1, 2, 3, 4
    -- One order for everybody, so that two processes never wait for each other in a circle.
    order by 1, 2, 3, 4
    on conflict (hourly, at, kind, name) do update
    set delivered = h.delivered + excluded.delivered,
        replayed = h.replayed + excluded.replayed,
        failed = h.failed + excluded.failed,
        retried = h.retried + excluded.retried,
        first = core.histogram_add(h.first, excluded.first),
        later = core.histogram_add(h.later, excluded.later),
        replays = core.histogram_add(h.replays, excluded.replays),
        newest = greatest(h.newest, excluded.newest),
        backlog = greatest(h.backlog, excluded.backlog),
        lag_ms = greatest(h.lag_ms, excluded.lag_ms);
    -- The future: from before the clock was set back.
    delete from core.delivery_history h where not h.hourly and (h.at < now() - p_minutes_kept or h.at > now() + p_minutes_kept);
    delete from core.delivery_history h where h.hourly and (h.at < now() - p_hours_kept or h.at > now() + p_hours_kept);
end
$$;
CREATE FUNCTION core.key_floor_advance(p_last bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
declare
    c_numbers constant int := 100000;
    v_row   core.claim_cursors;
    v_open   bigint;
    v_passed bigint;
    v_upto   bigint;
    v_new    record;
begin
    select * into v_row from core.claim_cursors c where c.group_key = '' for update skip locked;
    if not found then
        if not exists (select from core.claim_cursors c where c.group_key = '') then
            insert into core.claim_cursors (group_key, low) values ('', 0) on conflict do nothing;
        end if;
        return;
    end if;
    -- All up to the mark have ended: what is read from here on has everything that will ever be there.
    if pg_snapshot_xmin(pg_current_snapshot())::text::bigint <= v_row.mark_xid then
        return;
    end if;
    v_upto := least(v_row.mark, v_row.low + c_numbers);
    -- Index outbox_keyed. Up to the first that somebody subscribes to: the others are passed, and may be wanted later.
    for v_new in
        select o.seq, core.outbox_subscribed(o) as wanted from core.outbox o
        where o.ordering_key is not null and o.seq + 0 > v_row.low and o.seq + 0 <= v_upto
          and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
        order by o.seq + 0
    loop
        if v_new.wanted then
            v_open := v_new.seq;
            exit;
        end if;
        v_passed := coalesce(v_passed, v_new.seq);
    end loop;
    update core.claim_cursors c
    set low      = greatest(c.low, least(v_upto, v_open - 1)),
        passed   = least(c.passed, v_passed),
        mark     = greatest(c.mark, p_last),
        mark_xid = pg_current_xact_id()::text::bigint,
        saved_at = now()
    where c.group_key = '';
end
$$;
CREATE FUNCTION core.keys_release(p_keys text[], p_ids uuid[]) RETURNS TABLE(generation bigint, seq bigint)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'on'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_floor bigint := coalesce((select c.low from core.claim_cursors c where c.group_key = ''), 0);
    v_key   text;
begin
    delete from core.keys_in_flight k where k.ordering_key = any (p_keys) and k.event_id = any (p_ids);
    -- Index outbox_waiting_keys, once per key: a LIMIT keeps the planner from joining, the order from reading all that waits.
    for v_key in
        select t.key
        from unnest(p_keys) as t(key), lateral (
            select from core.outbox w
            where w.ordering_key = t.key and w.retry_after is not null
              and w.status = 'pending' and w.blocked_since is not null and w.deleted_at is null
            order by w.seq limit 1) w
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
CREATE FUNCTION core.ladder_record(p_rows bigint, p_latencies bigint[], p_notify_queue double precision, p_snapshot_seconds bigint, p_dead_rows bigint, p_kept interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- Figures about load, not events: a commit that the server forgets costs ten minutes of them.
    perform set_config('synchronous_commit', 'off', true);
    insert into core.ladder_samples as s (hour, rows, latencies, notify_queue, snapshot_seconds, dead_rows)
    values (date_trunc('hour', now(), 'UTC'), p_rows, coalesce(p_latencies, '{}'), p_notify_queue, p_snapshot_seconds, p_dead_rows)
    on conflict (hour) do update
    set rows = coalesce(excluded.rows, s.rows),
        latencies = array(
            select coalesce(t.before, 0) + coalesce(t.later, 0)
            from unnest(s.latencies, excluded.latencies) with ordinality as t(before, later, place)
            order by t.place),
        notify_queue = greatest(s.notify_queue, excluded.notify_queue),
        snapshot_seconds = greatest(s.snapshot_seconds, excluded.snapshot_seconds),
        dead_rows = greatest(s.dead_rows, excluded.dead_rows);
    -- The future: from before the clock was set back.
    delete from core.ladder_samples s where s.hour < now() - p_kept or s.hour > now() + p_kept;
end
$$;
CREATE FUNCTION core.last_cycle(p_history jsonb) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$ select coalesce((p_history -> -1 ->> 'cycle')::int, 0) $$;
CREATE TABLE core.operations (
    id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'planned'::text NOT NULL,
    filter text NOT NULL,
    to_generation bigint,
    rate integer DEFAULT 0 NOT NULL,
    canary integer DEFAULT 0 NOT NULL,
    stop_percent integer DEFAULT 20 NOT NULL,
    total bigint DEFAULT 0 NOT NULL,
    taken bigint DEFAULT 0 NOT NULL,
    delivered bigint DEFAULT 0 NOT NULL,
    failed_again bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    paced_at timestamp with time zone,
    actor text NOT NULL,
    surface text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    executor text DEFAULT ''::text NOT NULL,
    lease_until timestamp with time zone,
    planned_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT operations_add_up CHECK ((((((delivered + failed_again) + skipped) + changed) <= taken) AND (taken <= total))),
    CONSTRAINT operations_canary_check CHECK ((canary >= 0)),
    CONSTRAINT operations_kind_known CHECK ((kind = ANY (ARRAY['replay'::text, 'discard'::text, 'restore'::text]))),
    CONSTRAINT operations_rate_check CHECK ((rate >= 0)),
    CONSTRAINT operations_replay_has_generation CHECK (((kind <> 'replay'::text) OR (to_generation >= 1))),
    CONSTRAINT operations_state_known CHECK ((state = ANY (ARRAY['planned'::text, 'running'::text, 'paused'::text, 'stopped'::text, 'cancelled'::text, 'finished'::text]))),
    CONSTRAINT operations_stop_percent_check CHECK (((stop_percent >= 0) AND (stop_percent <= 100)))
);
COMMENT ON TABLE core.operations IS 'Bulk replays, discards and restores: plan, progress, who and why';
CREATE FUNCTION core.operation_advance(p_id uuid, p_executor text, p_limit integer, p_paced_at timestamp with time zone) RETURNS core.operations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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
CREATE FUNCTION core.operation_change(p_id uuid, p_change text, p_rate integer, p_actor text, p_surface text, p_reason text) RETURNS core.operations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.operation_end(p_id uuid, p_executor text, p_state text, p_note text) RETURNS core.operations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE TABLE core.operation_items (
    operation_id uuid NOT NULL,
    place bigint NOT NULL,
    event_id uuid NOT NULL,
    claim_seq bigint NOT NULL,
    cycle integer NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    CONSTRAINT operation_items_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'in_flight'::text, 'delivered'::text, 'failed_again'::text, 'skipped'::text, 'changed'::text])))
);
COMMENT ON TABLE core.operation_items IS 'The frozen set of each operation, in the order in which it is carried out';
CREATE FUNCTION core.operation_fits(p_kind text, p_item core.operation_items, p_event core.outbox) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    select p_event.status = 'failed' and p_event.claim_seq = p_item.claim_seq
       and (p_event.deleted_at is not null) = (p_kind = 'restore')
       and coalesce((p_event.failure_history -> -1 ->> 'cycle')::int, 0) = p_item.cycle
$$;
CREATE FUNCTION core.operation_held(p_id uuid, p_executor text) RETURNS core.operations
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.operation_hold(p_id uuid, p_executor text, p_lease interval) RETURNS core.operations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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
    -- Index operation_items_in_flight, then outbox_pkey; of relayed events event_handled_pkey.
    with seen as (
        select i.place,
               case when o.id is null then 'skipped'
                    when o.status = 'delivered' and (coalesce(o.claimed_by, '') not like '%/relay:%' or not exists (
                        select from core.subscriptions s
                        where s.generation = o.generation
                          and (s.context is null or o.target is null or s.context = o.target)
                          and (s.channel is null or s.channel = o.channel)
                          and exists (
                            select from unnest(s.event_types) as p
                            where p = o.event_type or (right(p, 1) = '*' and starts_with(o.event_type, left(p, -1))))
                          and not exists (
                            select from core.event_handled h
                            where h.handler_name = s.handler_name and h.idempotency_key = o.idempotency_key))) then 'delivered'
                    when exists (select from jsonb_array_elements(o.failure_history) as e
                                 where (e ->> 'cycle')::int = i.cycle + 1 and e ->> 'delivered_at' is not null) then 'delivered'
                    when (o.status = 'failed' and o.claim_seq > i.claim_seq) or core.last_cycle(o.failure_history) > i.cycle
                    then 'failed_again'
                    when o.status = 'pending' and o.deleted_at is not null then 'skipped' end as outcome
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
    if v_operation.state = 'running' and v_operation.taken < v_operation.total and exists (
        select from core.deployments d where d.generation = v_operation.to_generation and d.state = 'retired') then
        update core.operations
        set state = 'stopped', note = format('generation %s is retired: plan the rest again', to_generation), ended_at = now(), lease_until = null
        where id = p_id
        returning * into v_operation;
    end if;
    return v_operation;
end
$$;
CREATE FUNCTION core.operation_locked(p_id uuid) RETURNS core.operations
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.operation_plan(p_id uuid, p_kind text, p_filter jsonb, p_event_ids uuid[], p_filter_text text, p_to_generation bigint, p_rate integer, p_canary integer, p_stop_percent integer, p_valid_for interval, p_most bigint, p_actor text, p_surface text, p_reason text) RETURNS core.operations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.operation_release(p_id uuid, p_executor text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ update core.operations set lease_until = null where id = p_id and executor = p_executor $$;
CREATE FUNCTION core.operation_start(p_id uuid, p_confirmed bigint, p_rate integer, p_canary integer, p_stop_percent integer, p_actor text, p_surface text, p_reason text) RETURNS core.operations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.outbox_acknowledge(p_tids tid[], p_from timestamp with time zone, p_to timestamp with time zone, p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_done_batches bigint[], p_based_on bigint, p_durable boolean, p_keyed boolean DEFAULT NULL::boolean) RETURNS TABLE(fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_indexscan TO 'on'
    SET enable_hashjoin TO 'on'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'off'
    SET enable_tidscan TO 'on'
    SET jit TO 'off'
    AS $$
declare
    v_rows bigint;
    v_keys text[];
    v_ids  uuid[];
begin
    if p_based_on <> (select s.value::bigint from core.settings s where s.key = 'subscriptions_version') then
        raise exception 'the subscriptions have changed' using errcode = 'SL410';
    end if;
    return query select null::uuid, core.claims_forgotten(p_batches), null::bigint, null::bigint;
    if found then
        return;
    end if;
    -- A lost acknowledgement is a redelivery.
    if not p_durable then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    if coalesce(p_keyed, exists (select from core.claims c where c.batch = any (p_batches) and c.keyed)) then
        perform set_config('sluice.keys', 'released by batch', true);
        with done as (
            update core.outbox o
            set status = 'delivered', delivered_at = now(), progress = null
            from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
            where o.ctid = any (p_tids) and o.occurred_at >= p_from and o.occurred_at <= p_to
              and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
            returning o.id, o.ordering_key)
        select count(*), array_agg(d.ordering_key) filter (where d.ordering_key is not null),
               array_agg(d.id) filter (where d.ordering_key is not null)
        into v_rows, v_keys, v_ids
        from done d;
        perform set_config('sluice.keys', '', true);
        if v_keys is not null then
            return query select null::uuid, null::bigint, r.generation, r.seq from core.keys_release(v_keys, v_ids) r;
        end if;
    else
        update core.outbox o
        set status = 'delivered', delivered_at = now(), progress = null
        from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
        where o.ctid = any (p_tids) and o.occurred_at >= p_from and o.occurred_at <= p_to
          and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
        get diagnostics v_rows = row_count;
    end if;
    if v_rows < cardinality(p_ids) then
        return query select core.outbox_acknowledge_by_id(p_ids, p_claim_seqs), null::bigint, null::bigint, null::bigint;
    end if;
    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;
CREATE FUNCTION core.outbox_acknowledge_by_id(p_ids uuid[], p_claim_seqs bigint[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'on'
    SET enable_indexscan TO 'on'
    SET jit TO 'off'
    AS $$
begin
    update core.outbox o
    set status = 'delivered', delivered_at = now(), progress = null
    from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
    where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
    -- Delivered at this transaction's own time: by this call.
    return query
    select t.id from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
    where not exists (
        select from core.outbox o
        where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'delivered' and o.delivered_at = now());
end
$$;
CREATE FUNCTION core.outbox_blocker(p_key text, p_seq bigint, p_id uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE
    AS $$
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
CREATE FUNCTION core.outbox_cancel(p_event_id uuid, p_actor text, p_surface text, p_reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_event core.outbox;
begin
    perform core.outbox_lock(p_event_id, p_reason);
    select * into v_event from core.outbox where id = p_event_id;
    if v_event.status = 'pending' and v_event.deleted_at is not null then
        raise exception 'event % is already cancelled', p_event_id using errcode = 'SL409';
    end if;
    perform core.outbox_must_wait(p_event_id, v_event.status, v_event.deleted_at is not null, v_event.claimed_by, 'cancelled');
    insert into core.audited values (pg_current_xact_id()::text::bigint);
    update core.outbox set deleted_at = now(), retry_after = null, blocked_since = null where id = p_event_id;
    delete from core.audited where xid = pg_current_xact_id()::text::bigint;
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'cancel', p_event_id, p_reason,
            jsonb_build_object('due', case when v_event.blocked_since is null then v_event.retry_after end));
end
$$;
CREATE FUNCTION core.outbox_check_edge(p_id uuid, p_old text, p_new text, p_claims bigint, p_due boolean, p_deleted boolean, p_recorded boolean, p_relayed boolean) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    case
        when (p_old, p_new) = ('pending', 'in_flight') then
            if p_claims <> 1 then
                raise exception 'event %: a claim must raise claim_seq by one', p_id using errcode = 'SL409';
            elsif p_deleted then
                raise exception 'event %: a cancelled event cannot be claimed', p_id using errcode = 'SL409';
            end if;
        when (p_old, p_new) in (('in_flight', 'delivered'), ('in_flight', 'failed')) then
            null;
        when (p_old, p_new) = ('delivered', 'failed') and p_relayed then
            null;
        when (p_old, p_new) in (('in_flight', 'pending'), ('failed', 'pending'), ('delivered', 'pending')) then
            if not p_due then
                raise exception 'event %: what becomes pending again needs a retry_after', p_id using errcode = 'SL409';
            elsif p_old <> 'in_flight' and (p_deleted or not p_recorded) then
                raise exception 'event %: a % event returns to pending only by %', p_id, p_old,
                    case p_old when 'failed' then 'core.outbox_replay' else 'core.outbox_send_to' end using errcode = 'SL409';
            end if;
        else
            raise exception 'event %: illegal transition % -> %', p_id, p_old, p_new
                using errcode = 'SL409',
                      hint = 'legal: pending -> in_flight -> delivered | failed | pending, failed -> pending by replay, '
                             'delivered -> pending when sent again, delivered -> failed after a relay';
    end case;
end
$$;
CREATE FUNCTION core.outbox_check_tombstone(p_id uuid, p_status text, p_deleted_at timestamp with time zone, p_due boolean, p_audited boolean) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_deleted_at is not null and (p_status = 'in_flight' or (p_status = 'pending' and not p_audited)) then
        raise exception 'event %: a failed or delivered event can be tombstoned, a pending one by core.outbox_cancel; this one is %', p_id, p_status
            using errcode = 'SL409';
    elsif p_deleted_at is null and p_status = 'pending' and not p_due then
        raise exception 'event %: what becomes claimable again needs a retry_after', p_id using errcode = 'SL409';
    -- The grace of a tombstone counts from here: whoever could write another time could make the next sweep delete it.
    elsif p_deleted_at not between now() and clock_timestamp() then
        raise exception 'event %: deleted_at must be now(), not %', p_id, p_deleted_at using errcode = 'SL409';
    end if;
end
$$;
CREATE FUNCTION core.outbox_claim(p_generation bigint, p_worker text, p_limit integer, p_ttl interval, p_after bigint, p_upto bigint, p_interests text[], p_handlers text[], p_lanes text[], p_due boolean, p_next bigint[] DEFAULT '{}'::bigint[], p_within interval DEFAULT '1000 years'::interval) RETURNS TABLE(head bigint, top bigint, batch bigint, tid tid, id uuid, seq bigint, claim_seq bigint, attempts integer, event_type text, event_version integer, occurred_at timestamp with time zone, source text, target text, workspace_id uuid, payload jsonb, idempotency_key text, trace_context text, channel text, ordering_key text, claimed_at timestamp with time zone, progress jsonb, due_age bigint, waited boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'on'
    SET enable_indexscan TO 'on'
    SET enable_tidscan TO 'on'
    SET jit TO 'off'
    AS $$
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
    v_first   bigint;
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
        -- Index outbox_scan, once per number.
        select array_agg(c.tid), array_agg(c.leaf), array_agg(c.seq), min(c.occurred_at), max(c.occurred_at)
        into v_fresh, v_fresh_leaves, v_fresh_seqs, v_fresh_from, v_fresh_to
        from (
            select o.tid, o.leaf, o.seq, o.occurred_at
            from unnest(p_next) as n(seq), lateral (
                select o.ctid as tid, o.tableoid as leaf, o.seq, o.occurred_at
                from core.outbox o
                where o.generation = p_generation and o.seq = n.seq and (o.seq <= p_after or o.seq > p_upto)
                  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                  and core.outbox_blocker(o.ordering_key, o.seq, o.id) is null
                offset 0
                for update of o skip locked) o
            limit v_room) c;
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
        v_first := p_after;
        if p_upto is null then
            -- Read before the scan: when the scan ends early, everything up to here was looked at.
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
            -- Not further than a few times what is asked for: all of it may wait behind one key. And not once more over what lies
            -- before the first: beside a transaction that stays open, a process that begins finds little else.
            select min(f.seq) - 1, case when count(*) > 4 * v_room then max(f.seq) end
            into v_first, v_upto
            from (
                select o.seq from core.outbox o
                where o.generation = p_generation and o.seq > p_after
                  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                order by o.seq limit 4 * v_room + 1) f;
            v_first := coalesce(v_first, v_top, p_after);
            v_upto := coalesce(v_upto, v_top);
        end if;
        -- Index outbox_scan. What waits behind its key is not locked: the end of the one before it would have to wait.
        select array_agg(c.tid), array_agg(c.leaf), array_agg(c.seq), min(c.occurred_at), max(c.occurred_at), bool_or(c.keyed), count(*),
               max(c.seq)
        into v_fresh, v_fresh_leaves, v_fresh_seqs, v_fresh_from, v_fresh_to, v_fresh_keyed, v_seen, v_head
        from (
            select o.ctid as tid, o.tableoid as leaf, o.seq, o.occurred_at, o.ordering_key is not null as keyed
            from core.outbox o
            where o.generation = p_generation and o.seq > v_first and o.seq <= v_upto
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
            -- Index outbox_scan, once per number: a number is one event, in whichever month it lies.
            select o.tid, o.leaf, o.seq, o.id, o.ordering_key
            from unnest(v_seqs) as n(seq), lateral (
                select o.ctid as tid, o.tableoid as leaf, o.seq, o.id, o.ordering_key from core.outbox o
                where o.generation = p_generation and o.seq = n.seq and o.occurred_at >= v_from and o.occurred_at <= v_to
                offset 0) o),
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
CREATE FUNCTION core.outbox_claim_stretch(p_generation bigint, p_worker text, p_ttl interval, p_after bigint, p_upto bigint, p_interests text[], p_handlers text[], p_lanes text[], p_within interval DEFAULT '1000 years'::interval) RETURNS TABLE(batch bigint, tid tid, id uuid, seq bigint, claim_seq bigint, attempts integer, event_type text, event_version integer, occurred_at timestamp with time zone, source text, target text, workspace_id uuid, payload jsonb, idempotency_key text, trace_context text, channel text, ordering_key text, claimed_at timestamp with time zone, progress jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'on'
    SET enable_indexscan TO 'on'
    SET lock_timeout TO '20ms'
    SET jit TO 'off'
    AS $$
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
CREATE FUNCTION core.outbox_complaint(p_event core.outbox) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select case
        when p_event.status not in ('pending', 'in_flight', 'delivered', 'failed') then
            'status must be pending, in_flight, delivered or failed'
        when octet_length(p_event.event_type) not between 1 and 255 then 'event_type must have 1 to 255 bytes'
        when p_event.event_type !~ '^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$' then
            'event_type must be dot-separated names such as scan.completed'
        when p_event.event_version < 1 then 'event_version must be at least 1'
        when p_event.source !~ '^[a-z][a-z0-9_]*$' then 'source must be a context name: [a-z][a-z0-9_]*'
        when p_event.target !~ '^[a-z][a-z0-9_]*$' then 'target must be a context name, [a-z][a-z0-9_]*, or null for a broadcast'
        when octet_length(p_event.channel) not between 1 and 63 then 'channel must have 1 to 63 bytes'
        when p_event.generation < 1 then 'generation must be at least 1'
        when jsonb_typeof(p_event.payload) <> 'object' then 'payload must be a JSON object'
        when octet_length(p_event.idempotency_key) not between 1 and 255 then 'idempotency_key must have 1 to 255 bytes'
        when octet_length(p_event.ordering_key) not between 1 and 255 then 'ordering_key must have 1 to 255 bytes'
        -- It becomes a header of a delivery, where a line break would begin another one.
        when p_event.trace_context !~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$' then
            'trace_context must be a W3C traceparent: 00-<32 hex digits>-<16 hex digits>-<2 hex digits>'
        when p_event.attempts < 0 then 'attempts must not be negative'
        when jsonb_typeof(p_event.failure_history) <> 'array' then 'failure_history must be a JSON array'
    end
$_$;
CREATE FUNCTION core.outbox_default_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    new.idempotency_key := coalesce(new.idempotency_key, new.id::text);
    -- Nobody listens to the placeholder.
    if new.channel = 'outbox_default' then
        new.channel := 'outbox_gen_' || new.generation;
    end if;
    if new.status = 'failed' then
        new.failed_at := coalesce(new.failed_at, now());
        new.group_id := core.failure_group(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error);
    else
        new.failed_at := null;
        new.group_id := null;
    end if;
    return new;
end
$$;
CREATE FUNCTION core.outbox_discard(p_event_id uuid, p_reason text, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ select core.outbox_tombstone(p_event_id, true, p_actor, 'sql', p_reason) $$;
CREATE FUNCTION core.outbox_expired(p_limit integer) RETURNS TABLE(id uuid, claim_seq bigint, worker text, attempts integer, batch bigint, generation bigint, claimed_at timestamp with time zone, seen_at timestamp with time zone, progress jsonb, last_error text, failure_class text, fingerprint text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_claim core.claims;
    v_until timestamptz;
    v_found int := 0;
    v_rows  int;
begin
    for v_claim in
        select * from core.claims c where c.expires_at <= now() order by c.expires_at limit p_limit for update skip locked
    loop
        -- Index outbox_scan, once per number.
        v_until := (
            select min(o.claimed_at) + v_claim.ttl
            from unnest(v_claim.seqs) as n(seq), lateral (
                select o.claimed_at from core.outbox o
                where o.generation = v_claim.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = v_claim.worker
                offset 0) o);
        if v_until is null then
            delete from core.claims c where c.batch = v_claim.batch;
        elsif v_until > now() then
            update core.claims c set expires_at = v_until where c.batch = v_claim.batch;
        else
            return query
            select o.id, o.claim_seq, o.claimed_by, o.attempts, v_claim.batch, o.generation, o.claimed_at, now(), o.progress,
                   o.last_error, o.failure_class, o.fingerprint
            from unnest(v_claim.seqs) as n(seq), lateral (
                select o.* from core.outbox o
                where o.generation = v_claim.generation and o.seq = n.seq and o.status = 'in_flight' and o.claimed_by = v_claim.worker
                  and o.claimed_at + v_claim.ttl <= now()
                offset 0
                -- A handler's transaction holds its events until it ends.
                for update of o skip locked) o
            limit p_limit - v_found;
            get diagnostics v_rows = row_count;
            v_found := v_found + v_rows;
            exit when v_found >= p_limit;
        end if;
    end loop;
end
$$;
CREATE FUNCTION core.outbox_free(p_generation bigint, p_handler text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_rung bigint;
begin
    with freed as (
        update core.outbox o
        set lane = null,
            progress = (select jsonb_agg(w) from jsonb_array_elements(o.progress) as w where w ->> 'handler' <> p_handler),
            retry_after = case when o.blocked_since is null then o.retry_after else now() end,
            blocked_since = null
        where o.generation = p_generation and o.retry_after is not null and o.status = 'pending'
          and o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler))
          and p_handler <> all (array(select core.outbox_handlers(o.id)))
        returning o.channel),
    -- Keys cross generations. A row that is among those above must not be touched twice: one of the two changes would be lost.
    released as (
        update core.outbox o
        set retry_after = now(), blocked_since = null
        where o.ordering_key is not null and o.retry_after is not null and o.blocked_since is not null and o.status = 'pending'
          and not (o.generation = p_generation
                   and coalesce(o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler)), false)
                   and p_handler <> all (array(select core.outbox_handlers(o.id))))
        returning o.channel)
    select count(pg_notify(c.channel, '')) into v_rung
    from (select f.channel from freed f union select r.channel from released r) c;
end
$$;
CREATE FUNCTION core.outbox_guard() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_complaint text;
    v_audited   boolean;
begin
    if new.id <> old.id or new.seq <> old.seq or new.idempotency_key <> old.idempotency_key or new.claim_seq < old.claim_seq then
        raise exception 'event %: id, seq and idempotency_key never change, and claim_seq never falls', old.id using errcode = 'SL409';
    end if;
    -- Only what changes is judged: an event that came in before a rule, or past it, can still be settled and replayed. Most
    -- updates change none of these, and asking costs more than comparing.
    if (new.event_type, new.event_version, new.source, new.target, new.ordering_key, new.trace_context)
           is distinct from (old.event_type, old.event_version, old.source, old.target, old.ordering_key, old.trace_context)
       or new.payload is distinct from old.payload
       or new.status not in ('pending', 'in_flight', 'delivered', 'failed') or new.attempts < 0 or new.generation < 1
       or octet_length(new.channel) not between 1 and 63 or jsonb_typeof(new.failure_history) <> 'array' then
        v_complaint := coalesce(core.outbox_complaint(new),
                                case when new.payload is distinct from old.payload then core.payload_complaint(new.payload) end);
        if v_complaint is not null then
            raise exception using errcode = '23514', message = v_complaint;
        end if;
    end if;
    if new.status is distinct from old.status then
        perform core.outbox_check_edge(old.id, old.status, new.status, new.claim_seq - old.claim_seq, new.retry_after is not null,
            old.deleted_at is not null, new.failure_history <> old.failure_history, coalesce(old.claimed_by like '%/relay:%', false));
    end if;
    if new.deleted_at is distinct from old.deleted_at then
        v_audited := exists (select from core.audited a where a.xid = pg_current_xact_id()::text::bigint);
        perform core.outbox_check_tombstone(old.id, new.status, new.deleted_at, new.retry_after is not null, v_audited);
        if new.deleted_at is null and new.restored_at is not distinct from old.restored_at then
            update core.outbox set restored_at = now() where id = new.id;
        end if;
        if not v_audited then
            insert into core.audit (actor, surface, action, event_id, reason)
            values ('sql-direct', 'sql', case when new.deleted_at is null then 'restore' else 'discard' end, new.id,
                    'by an UPDATE of deleted_at');
        end if;
    end if;
    -- Failed, or no longer failed, by plain SQL: the dead-letter queue has to know it.
    -- A dead letter that is restored may have outlived the row of its group.
    if new.status = 'failed'
       and (new.failed_at is null or new.group_id is null
            or (old.deleted_at is not null and new.deleted_at is null
                and not exists (select from core.failure_groups c where c.id = new.group_id))) then
        update core.outbox
        set failed_at = coalesce(new.failed_at, now()),
            group_id = core.failure_group(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error)
        where id = new.id;
    elsif new.status <> 'failed' and (new.failed_at is not null or new.group_id is not null) then
        update core.outbox set failed_at = null, group_id = null where id = new.id;
    end if;
    if new.ordering_key is not null and old.status = 'in_flight' and new.status <> 'in_flight' then
        delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
        perform core.outbox_unblock(old.ordering_key, case when new.status = 'pending' then old.seq end);
    elsif new.ordering_key is not null and new.status = 'pending' and old.deleted_at is null and new.deleted_at is not null then
        perform core.outbox_unblock(old.ordering_key, null);
    end if;
    return null;
end
$$;
CREATE FUNCTION core.outbox_guard_delete() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
    if not exists (select from core.settings s where s.key = 'moving_from') then
        perform core.outbox_unblock(old.ordering_key, null);
    end if;
    return null;
end
$$;
CREATE FUNCTION core.outbox_handlers(p_event_id uuid) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select s.handler_name from core.subscriptions s join core.outbox o on o.id = p_event_id and s.generation = o.generation
    where (s.context is null or o.target is null or s.context = o.target)
      and (s.channel is null or s.channel = o.channel)
      and exists (
        select from unnest(s.event_types) as p
        where p = o.event_type or (right(p, 1) = '*' and starts_with(o.event_type, left(p, -1))))
    order by s.handler_name
$$;
CREATE FUNCTION core.outbox_heartbeat(p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_ttl interval) RETURNS SETOF uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
    v_forgotten bigint[] := array(select core.claims_forgotten(array(select distinct b.batch from unnest(p_batches) as b(batch) where b.batch <> 0)));
begin
    update core.claims c set ttl = p_ttl where c.batch = any (p_batches) and c.ttl <> p_ttl;
    update core.outbox o
    set claimed_at = now()
    where o.id = any (array(
        select h.id from core.outbox h join unnest(p_ids, p_claim_seqs, p_batches) as t(id, claim_seq, batch) on h.id = t.id
        where h.claim_seq = t.claim_seq and h.status = 'in_flight' and t.batch <> all (v_forgotten)
        for update of h skip locked));
    return query
    select t.id from unnest(p_ids, p_claim_seqs, p_batches) as t(id, claim_seq, batch)
    where t.batch = any (v_forgotten) or not exists (
        select from core.outbox o where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight');
end
$$;
CREATE FUNCTION core.outbox_lock(p_event_id uuid, p_reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    end if;
    perform core.subscriptions_hold();
    perform from core.outbox where id = p_event_id for update;
    if not found then
        raise exception 'event % does not exist', coalesce(p_event_id::text, 'null') using errcode = 'SL404';
    end if;
end
$$;
CREATE FUNCTION core.outbox_must_wait(p_event_id uuid, p_status text, p_deleted boolean, p_claimed_by text, p_verb text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_deleted then
        raise exception 'event % is %: restore it first', p_event_id, case p_status when 'pending' then 'cancelled' else 'discarded' end
            using errcode = 'SL409';
    elsif p_status = 'in_flight' then
        raise exception 'event % is in_flight: worker % has it and cannot be called back; try again when it is settled or its claim has expired',
            p_event_id, coalesce(p_claimed_by, 'unknown') using errcode = 'SL409';
    elsif p_status <> 'pending' then
        raise exception 'event % is %, only a pending event can be %', p_event_id, p_status, p_verb using errcode = 'SL409';
    end if;
end
$$;
CREATE FUNCTION core.outbox_notify() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform pg_notify(NEW.channel, NEW.id::text);
    return null;
end
$$;
CREATE FUNCTION core.outbox_once() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
    if exists (select from core.outbox o where o.id = new.id and o.tableoid <> tg_relid) then
        return null;
    end if;
    return new;
end
$$;
CREATE FUNCTION core.outbox_park(p_ids uuid[]) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
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
CREATE FUNCTION core.outbox_partitioned() RETURNS boolean
    LANGUAGE sql STABLE
    AS $$ select c.relkind = 'p' from pg_catalog.pg_class c where c.oid = pg_catalog.to_regclass('core.outbox') $$;
CREATE FUNCTION core.outbox_publish(p_event_type text, p_payload jsonb DEFAULT '{}'::jsonb, p_source text DEFAULT 'core'::text, p_target text DEFAULT NULL::text, p_generation bigint DEFAULT NULL::bigint, p_event_id uuid DEFAULT NULL::uuid, p_event_version integer DEFAULT 1, p_occurred_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_workspace_id uuid DEFAULT NULL::uuid, p_idempotency_key text DEFAULT NULL::text, p_trace_context text DEFAULT NULL::text, p_ordering_key text DEFAULT NULL::text, p_channel text DEFAULT NULL::text, p_class text DEFAULT NULL::text, p_content_class text DEFAULT 'default'::text, p_retry_after timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
CREATE FUNCTION core.outbox_refuse_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_complaint text := coalesce(core.outbox_complaint(new), core.payload_complaint(new.payload));
begin
    if v_complaint is null then
        return new;
    end if;
    raise exception using errcode = '23514', message = v_complaint;
end
$$;
CREATE FUNCTION core.outbox_replay(p_event_id uuid, p_new_generation bigint, p_replayed_by text) RETURNS jsonb
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select core.outbox_replay_as(p_event_id, p_new_generation, p_replayed_by, 'sql', null)
$$;
CREATE FUNCTION core.outbox_replay_as(p_event_id uuid, p_new_generation bigint, p_replayed_by text, p_surface text, p_reason text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_event core.outbox;
    v_actor text := coalesce(nullif(p_replayed_by, ''), 'sql-direct');
    v_done  record;
begin
    if p_new_generation is null or p_new_generation < 1 then
        raise exception 'p_new_generation: expected 1 or more, got %', coalesce(p_new_generation::text, 'null') using errcode = 'SL422';
    end if;
    select * into v_event from core.outbox where id = p_event_id for update;
    if not found then
        raise exception 'event % does not exist', coalesce(p_event_id::text, 'null') using errcode = 'SL404';
    elsif v_event.status <> 'failed' then
        raise exception 'event % is %, only a failed event can be replayed', p_event_id, v_event.status using errcode = 'SL409';
    elsif v_event.deleted_at is not null then
        raise exception 'event % is discarded: restore it first', p_event_id using errcode = 'SL409';
    end if;
    select * into v_done from core.outbox_reset(array[p_event_id], p_new_generation, v_actor, p_reason, null);
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (v_actor, p_surface, 'replay', p_event_id, coalesce(p_reason, ''),
            jsonb_build_object('cycle', v_done.cycle, 'from_generation', v_done.from_generation, 'to_generation', p_new_generation));
    return jsonb_build_object('event_id', p_event_id, 'status', 'pending', 'cycle', v_done.cycle, 'attempts', v_done.attempts,
                              'from_generation', v_done.from_generation, 'to_generation', p_new_generation, 'replayed_by', v_actor);
end
$$;
CREATE FUNCTION core.outbox_replay_edited(p_event_id uuid, p_payload jsonb, p_new_generation bigint, p_most bigint, p_actor text, p_surface text, p_reason text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.outbox_reroute(p_from bigint, p_to bigint, p_limit integer, p_actor text, p_surface text, p_reason text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_moved bigint;
    v_keys  text[];
begin
    if p_from = p_to or p_to < 1 then
        raise exception 'to: expected another generation than %, got %', p_from, p_to using errcode = 'SL422';
    end if;
    with moved as (
        update core.outbox o
        set generation = p_to, retry_after = coalesce(o.retry_after, now()), progress = null, lane = '',
            channel = core.channel_in(o.channel, p_from, p_to)
        where o.id = any (array(
            select c.id from core.outbox c
            where c.generation = p_from and c.status = 'pending' and c.deleted_at is null
            order by c.seq limit p_limit for update skip locked))
        returning o.ordering_key)
    select count(*), array_agg(distinct m.ordering_key) filter (where m.ordering_key is not null) into v_moved, v_keys from moved m;
    -- What is parked behind them need not wait where nobody subscribes to them any more. Index outbox_waiting_keys.
    update core.outbox o
    set retry_after = now(), blocked_since = null
    where o.ordering_key = any (v_keys) and o.retry_after is not null and o.blocked_since is not null and o.status = 'pending';
    if v_moved > 0 then
        perform pg_notify('outbox_gen_' || p_to, '');
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (p_actor, p_surface, 'reroute', v_moved, coalesce(p_reason, ''),
                jsonb_build_object('from_generation', p_from, 'to_generation', p_to));
    end if;
    return v_moved;
end
$$;
CREATE FUNCTION core.outbox_reset(p_ids uuid[], p_new_generation bigint, p_actor text, p_reason text, p_operation uuid) RETURNS TABLE(id uuid, cycle integer, attempts integer, from_generation bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_most int := greatest(coalesce((select s.value::int from core.settings s where s.key = 'failure_history_max'), 50), 2);
begin
    perform core.generation_not_retired(p_new_generation);
    perform from core.failure_groups c
    where c.id in (select o.group_id from core.outbox o where o.id = any (p_ids)) order by c.id for update;
    update core.failure_groups c
    set replayed = c.replayed + n.events
    from (select o.group_id, count(*) as events from core.outbox o where o.id = any (p_ids) group by o.group_id) n
    where c.id = n.group_id;
    return query
    with old as (
        select o.id, o.attempts, o.generation, coalesce((o.failure_history -> -1 ->> 'cycle')::int, 0) + 1 as cycle
        from core.outbox o where o.id = any (p_ids)),
    moved as (
        update core.outbox o
        set status = 'pending', generation = p_new_generation, attempts = 0, last_error = null, failure_class = null, fingerprint = null,
            first_failed_at = null, failed_at = null, group_id = null, claimed_at = null, claimed_by = null, retry_after = now(),
            delivered_at = null, progress = null, lane = '',
            failure_history = core.failure_history_after(o, p_new_generation, p_actor, p_reason, p_operation, v_most),
            channel = core.channel_in(o.channel, o.generation, p_new_generation)
        where o.id = any (p_ids)
        returning o.id)
    select old.id, old.cycle, old.attempts, old.generation from old join moved on moved.id = old.id;
    -- Without the id: only an INSERT names its event, and who inserted it takes that for the echo of its own publish.
    perform pg_notify(c.channel, '')
    from (select distinct o.channel from core.outbox o where o.id = any (p_ids)) c;
end
$$;
CREATE FUNCTION core.outbox_restore(p_event_id uuid, p_reason text, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ select core.outbox_tombstone(p_event_id, false, p_actor, 'sql', p_reason) $$;
CREATE FUNCTION core.outbox_route(p_event core.outbox) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ select p_event.channel || '/' || coalesce(p_event.target, '*') || '/' || p_event.event_type $$;
CREATE FUNCTION core.outbox_schedule(p_event_id uuid, p_due timestamp with time zone, p_actor text, p_surface text, p_reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_event   core.outbox;
    v_due     timestamptz := coalesce(p_due, now());
    v_blocker uuid;
begin
    perform core.outbox_lock(p_event_id, p_reason);
    select * into v_event from core.outbox where id = p_event_id;
    perform core.outbox_must_wait(p_event_id, v_event.status, v_event.deleted_at is not null, v_event.claimed_by,
                                  case when p_due is null then 'run now' else 'rescheduled' end);
    if p_due <= now() then
        raise exception 'at: % is not in the future; run the event now instead', p_due using errcode = 'SL422';
    end if;
    if p_due is null and v_event.ordering_key is not null then
        v_blocker := core.outbox_blocker(v_event.ordering_key, v_event.seq, v_event.id);
        if v_blocker is not null then
            raise exception 'event % waits for event % of its ordering key, which goes first: run that one now, or cancel it', p_event_id, v_blocker
                using errcode = 'SL409';
        end if;
    end if;
    update core.outbox o
    set retry_after = v_due, blocked_since = null,
        progress = (
            select jsonb_agg(case when coalesce((e.w ->> 'exhausted')::boolean, false) then e.w
                                  else e.w || jsonb_build_object('due', to_char(v_due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) end
                             order by e.place)
            from jsonb_array_elements(o.progress) with ordinality as e(w, place))
    where o.id = p_event_id;
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, case when p_due is null then 'run_now' else 'reschedule' end, p_event_id,
            p_reason, jsonb_build_object('due', v_due, 'was_due', coalesce(v_event.retry_after, v_event.published_at)));
    -- Who rests until the event would have been due has to look again, whenever it is due now.
    perform pg_notify(v_event.channel, '');
end
$$;
CREATE FUNCTION core.outbox_send_to(p_event_id uuid, p_handler text, p_from text, p_new_generation bigint, p_actor text, p_surface text, p_reason text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    set progress = jsonb_build_array(jsonb_build_object('handler', p_handler, 'attempts', 0, 'due', v_now)) || coalesce(v_others, '[]'),
        restored_at = now()
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
CREATE FUNCTION core.outbox_settle(p_tids tid[], p_from timestamp with time zone, p_to timestamp with time zone, p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_done_batches bigint[], p_undelivered uuid[], p_undelivered_claim_seqs bigint[], p_next text[], p_counted boolean[], p_recorded boolean[], p_delays interval[], p_not_before timestamp with time zone[], p_last_errors text[], p_failure_classes text[], p_fingerprints text[], p_progress jsonb[], p_lanes text[], p_handlers text[], p_handled_keys text[], p_handled_events uuid[], p_based_on bigint, p_durable boolean) RETURNS TABLE(fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_nestloop TO 'on'
    SET enable_indexscan TO 'on'
    SET enable_tidscan TO 'on'
    SET jit TO 'off'
    AS $$
begin
    -- Whoever withdraws a subscription waits for what was decided with it.
    if cardinality(p_undelivered) > 0 then
        perform core.subscriptions_hold();
    end if;
    if p_based_on <> (select s.value::bigint from core.settings s where s.key = 'subscriptions_version') then
        raise exception 'the subscriptions have changed' using errcode = 'SL410';
    end if;
    -- A lost acknowledgement is a redelivery; a lost failure or dedup row would be a broken promise.
    if not p_durable and cardinality(p_undelivered) = 0 and cardinality(p_handlers) = 0 then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    if cardinality(p_handlers) > 0 then
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select h.handler, h.key, h.event
        from unnest(p_handlers, p_handled_keys, p_handled_events) as h(handler, key, event)
        on conflict do nothing;
    end if;
    return query select null::uuid, core.claims_forgotten(p_batches), null::bigint, null::bigint;
    if found then
        return;
    end if;
    if cardinality(p_ids) > 0 then
        return query
        select * from core.outbox_acknowledge(p_tids, p_from, p_to, p_ids, p_claim_seqs, '{}', '{}', null, true,
            exists (select from core.claims c where c.batch = any (p_batches) and c.keyed));
    end if;
    if cardinality(p_undelivered) > 0 then
        return query
        with moved as (
            update core.outbox o
            set status          = t.next,
                attempts        = o.attempts + t.counted::int,
                last_error      = case when t.recorded then t.last_error else o.last_error end,
                failure_class   = case when t.recorded then t.failure_class else o.failure_class end,
                fingerprint     = case when t.recorded then t.fingerprint else o.fingerprint end,
                first_failed_at = case when t.recorded then coalesce(o.first_failed_at, now()) else o.first_failed_at end,
                retry_after     = case when t.next = 'pending' then coalesce(t.not_before, now() + t.delay) end,
                progress        = t.progress,
                lane            = nullif(t.lane, ''),
                failed_at       = case when t.next = 'failed' then now() end,
                group_id        = case when t.next = 'failed' then core.failure_group(
                    o.event_type, o.source, o.target,
                    case when t.recorded then t.failure_class else o.failure_class end,
                    case when t.recorded then t.fingerprint else o.fingerprint end,
                    case when t.recorded then t.last_error else o.last_error end) end,
                claimed_at      = case when t.next = 'failed' then o.claimed_at end,
                claimed_by      = case when t.next = 'failed' then o.claimed_by end
            from unnest(p_undelivered, p_undelivered_claim_seqs, p_next, p_counted, p_recorded, p_delays, p_not_before, p_last_errors,
                        p_failure_classes, p_fingerprints, p_progress, p_lanes)
                as t(id, claim_seq, next, counted, recorded, delay, not_before, last_error, failure_class, fingerprint, progress, lane)
            where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
            returning o.id)
        select t.id, null::bigint, null::bigint, null::bigint
        from unnest(p_undelivered) as t(id) where t.id not in (select m.id from moved m);
        -- What somebody else can go on with at once is worth a notification.
        if exists (
            select from unnest(p_next, p_delays, p_not_before) as t(next, delay, not_before)
            where t.next = 'pending' and coalesce(t.not_before, now() + t.delay) <= now() + interval '50 milliseconds') then
            perform pg_notify(c.channel, '') from (select distinct o.channel from core.outbox o where o.id = any (p_undelivered)) c;
        end if;
    end if;
    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;
CREATE FUNCTION core.outbox_settle_recorded(p_tids tid[], p_from timestamp with time zone, p_to timestamp with time zone, p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_done_batches bigint[], p_undelivered uuid[], p_undelivered_claim_seqs bigint[], p_next text[], p_counted boolean[], p_recorded boolean[], p_delays interval[], p_not_before timestamp with time zone[], p_last_errors text[], p_failure_classes text[], p_fingerprints text[], p_progress jsonb[], p_lanes text[], p_handlers text[], p_handled_keys text[], p_handled_events uuid[], p_based_on bigint, p_durable boolean, p_attempts jsonb) RETURNS TABLE(fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_row       record;
    v_fenced    uuid[] := '{}';
    v_forgotten boolean := false;
begin
    for v_row in
        select * from core.outbox_settle(
            p_tids, p_from, p_to, p_ids, p_claim_seqs, p_batches, p_done_batches, p_undelivered, p_undelivered_claim_seqs, p_next, p_counted,
            p_recorded, p_delays, p_not_before, p_last_errors, p_failure_classes, p_fingerprints, p_progress, p_lanes, p_handlers,
            p_handled_keys, p_handled_events, p_based_on, p_durable)
    loop
        v_fenced := v_fenced || v_row.fenced;
        v_forgotten := v_forgotten or v_row.forgotten is not null;
        fenced := v_row.fenced;
        forgotten := v_row.forgotten;
        next_generation := v_row.next_generation;
        next_seq := v_row.next_seq;
        return next;
    end loop;
    if not v_forgotten then
        perform core.attempts_record(p_attempts, array_remove(v_fenced, null));
    end if;
end
$$;
CREATE FUNCTION core.outbox_subscribed(p_event core.outbox) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
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
CREATE FUNCTION core.outbox_sweep(p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval, p_limit integer, p_dry_run boolean, p_actor text DEFAULT NULL::text, p_surface text DEFAULT 'sql'::text, p_reason text DEFAULT NULL::text) RETURNS TABLE(tombstoned bigint, deleted bigint, failed bigint, handled bigint, more boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_ids    uuid[];
    v_failed bigint;
    v_left_behind bigint := 0;
begin
    perform core.retention_check(p_active, p_grace, p_handled_active, p_handled_grace);
    if coalesce(p_limit < 1, true) then
        raise exception 'p_limit: expected 1 or more, got %', coalesce(p_limit::text, 'null') using errcode = 'SL422';
    end if;
    -- Before the events: what belongs to one that this call deletes stays until the next, so that a dry run counts the same.
    -- Index event_handled_age, and outbox_pkey once per row: as a value, so that no plan reads the whole table for it.
    if p_dry_run then
        select count(*) into handled from (
            select from core.event_handled h
            where h.handled_at <= now() - p_handled_active - p_handled_grace
              and (select o.id from core.outbox o where o.id = h.event_id) is null
            limit p_limit) c;
    else
        delete from core.event_handled h
        where h.ctid = any (array(
            select e.ctid from core.event_handled e
            where e.handled_at <= now() - p_handled_active - p_handled_grace
              and (select o.id from core.outbox o where o.id = e.event_id) is null
            limit p_limit for update skip locked));
        get diagnostics handled = row_count;
    end if;
    -- Index outbox_tombstones.
    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.status = 'failed') into v_ids, failed
    from (select o.id, o.status from core.outbox o
          where o.deleted_at <= now() - p_grace and o.status in ('delivered', 'failed', 'pending')
          order by o.deleted_at limit p_limit for update skip locked) t;
    deleted := cardinality(v_ids);
    if not p_dry_run then
        delete from core.outbox o where o.id = any (v_ids);
        delete from core.attempts a where a.event_id = any (v_ids);
        v_left_behind := core.attempts_sweep(p_active + p_grace, p_limit);
    end if;
    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.failed) into v_ids, v_failed from core.sweep_next(p_active, p_limit) t;
    tombstoned := cardinality(v_ids);
    failed := failed + v_failed;
    if not p_dry_run then
        insert into core.audited values (pg_current_xact_id()::text::bigint);
        update core.outbox o set deleted_at = now() where o.id = any (v_ids);
        delete from core.audited where xid = pg_current_xact_id()::text::bigint;
    end if;
    more := greatest(deleted, tombstoned, handled, v_left_behind) >= p_limit;
    if not p_dry_run and greatest(deleted, tombstoned, handled) > 0 then
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'retention.sweep', deleted + tombstoned, coalesce(p_reason, ''),
                jsonb_build_object('outbox_tombstoned', tombstoned, 'outbox_deleted', deleted, 'failed_swept', failed,
                                   'handled_deleted', handled));
    end if;
    return next;
end
$$;
CREATE FUNCTION core.outbox_tombstone(p_event_id uuid, p_discard boolean, p_actor text, p_surface text, p_reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_event core.outbox;
    v_due   timestamptz;
    v_from  bigint;
begin
    perform core.outbox_lock(p_event_id, p_reason);
    select * into v_event from core.outbox where id = p_event_id;
    if p_discard and v_event.status <> 'failed' or v_event.status not in ('failed', 'pending') then
        raise exception 'event % is %, only a failed event can be discarded or restored', p_event_id, v_event.status
            using errcode = 'SL409';
    elsif p_discard and v_event.deleted_at is not null then
        raise exception 'event % is already discarded', p_event_id using errcode = 'SL409';
    elsif not p_discard and v_event.deleted_at is null then
        raise exception 'event % is not %', p_event_id, case v_event.status when 'pending' then 'cancelled' else 'discarded' end using errcode = 'SL409';
    end if;
    if v_event.status = 'pending' then
        -- Index audit_event.
        v_due := (select (a.detail ->> 'due')::timestamptz from core.audit a
                  where a.event_id = p_event_id and a.action = 'cancel' order by a.id desc limit 1);
        v_due := greatest(coalesce(v_due, v_event.retry_after, now()), now());
        v_from := v_event.generation;
        if exists (select from core.deployments d where d.generation = v_from and d.state = 'retired') then
            v_event.generation := core.default_generation();
            perform core.generation_not_retired(v_event.generation);
            v_event.channel := core.channel_in(v_event.channel, v_from, v_event.generation);
        end if;
        v_event.lane := '';
        v_event.progress := (
            select jsonb_agg(e.w order by e.place)
            from jsonb_array_elements(v_event.progress) with ordinality as e(w, place)
            where case when v_event.generation = v_from then e.w ->> 'handler' in (select core.outbox_handlers(p_event_id))
                       else exists (select from core.subscriptions s
                                    where s.generation = v_event.generation and s.handler_name = e.w ->> 'handler') end);
    end if;
    insert into core.audited values (pg_current_xact_id()::text::bigint);
    update core.outbox
    set deleted_at = case when p_discard then now() end, restored_at = case when p_discard then restored_at else now() end,
        retry_after = coalesce(v_due, retry_after), lane = v_event.lane, progress = v_event.progress,
        generation = v_event.generation, channel = v_event.channel
    where id = p_event_id;
    delete from core.audited where xid = pg_current_xact_id()::text::bigint;
    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, case when p_discard then 'discard' else 'restore' end, p_event_id,
            p_reason, case when v_event.generation <> v_from
                           then jsonb_build_object('from_generation', v_from, 'to_generation', v_event.generation) else '{}' end);
    if v_event.status = 'pending' then
        perform pg_notify(v_event.channel, '');
    end if;
end
$$;
CREATE FUNCTION core.outbox_unblock(p_key text, p_before bigint) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
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
CREATE FUNCTION core.outbox_waits_for(p_progress jsonb, p_handlers text[]) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select exists (
        select from jsonb_array_elements(p_progress) as w
        where (p_handlers is null or w ->> 'handler' = any (p_handlers))
          and not coalesce((w ->> 'exhausted')::boolean, false)
          and (w ->> 'due')::timestamptz <= now())
        or not exists (
        select from jsonb_array_elements(p_progress) as w where not coalesce((w ->> 'exhausted')::boolean, false))
$$;
CREATE FUNCTION core.outbox_waits_for_nobody(p_event core.outbox) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_wanted text[];
begin
    if p_event.retry_after = '-infinity' then
        return true;
    end if;
    if p_event.progress is null and coalesce(p_event.lane, '') = '' then
        return false;
    end if;
    v_wanted := array(select core.outbox_handlers(p_event.id));
    if cardinality(v_wanted) = 0 then
        return false;
    end if;
    return (coalesce(p_event.lane, '') <> '' and not exists (
               select from unnest(v_wanted) as w(handler) where split_part(w.handler, '.', 1) = p_event.lane))
        or (exists (select from jsonb_array_elements(p_event.progress) as w where not coalesce((w ->> 'exhausted')::boolean, false))
            and not exists (
                select from jsonb_array_elements(p_event.progress) as w
                where not coalesce((w ->> 'exhausted')::boolean, false) and w ->> 'handler' = any (v_wanted)));
end
$$;
CREATE FUNCTION core.partition_add(p_from timestamp with time zone, p_to timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
    v_name  text := 'outbox_' || to_char(p_from, 'YYYY_MM');
    v_moved bigint := 0;
begin
    perform core.partition_prepare(v_name);
    -- Nobody writes to it meanwhile, so nobody misses the move. Without the triggers: nothing happens to an event that moves.
    lock table core.outbox_default in access exclusive mode;
    if exists (select from core.outbox_default d where d.occurred_at >= p_from and d.occurred_at < p_to) then
        alter table core.outbox_default disable trigger user;
        execute format('with moved as (delete from core.outbox_default d where d.occurred_at >= %L and d.occurred_at < %L returning d.*)'
                       ' insert into core.%I select * from moved', p_from, p_to, v_name);
        get diagnostics v_moved = row_count;
        alter table core.outbox_default enable trigger user;
    end if;
    execute format('alter table core.outbox attach partition core.%I for values from (%L) to (%L)', v_name, p_from, p_to);
    return v_moved;
end
$$;
CREATE FUNCTION core.partition_boundary() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO'
    SET "TimeZone" TO 'UTC'
    AS $$
    select substring(pg_get_constraintdef(c.oid) from '< ''([^'']+)''')::timestamptz
    from pg_constraint c where c.conrelid = to_regclass('core.outbox') and c.conname = 'outbox_month'
$$;
CREATE FUNCTION core.partition_droppable(p_active interval, p_grace interval, p_dry_run boolean) RETURNS TABLE(leaf oid, name text, rows bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $_$
#variable_conflict use_column
declare
    v_leaf record;
    v_held text;
begin
    for v_leaf in
        select p.* from core.partitions() p where not p.is_default and p.until < now() - p_active - p_grace
    loop
        continue when substring(v_leaf.note from '^held by .* at (.*)$')::timestamptz > now() - interval '1 day'
            or core.partition_held(v_leaf.leaf, p_active, p_grace, false) is not null;
        v_held := core.partition_held(v_leaf.leaf, p_active, p_grace, true);
        if v_held is null then
            return query select v_leaf.leaf, v_leaf.name, v_leaf.rows;
            return;
        elsif not p_dry_run then
            execute format('comment on table core.%I is %L', v_leaf.name, 'held by ' || v_held || ' at ' || to_char(now(), 'YYYY-MM-DD HH24:MI:SS+00'));
        end if;
    end loop;
end
$_$;
CREATE FUNCTION core.partition_functions(p_old text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    c_table constant oid := 'core.outbox'::regclass;
    v_row record;
begin
    -- Bodies may name functions that come later.
    return next 'set local check_function_bodies = off';
    for v_row in
        select p.oid, p.proacl, p.proowner::regrole as owner, pg_get_functiondef(p.oid) as definition, t.reltype = any (p.proargtypes::oid[]) as takes_row
        from pg_proc p cross join pg_class t
        where t.oid = c_table and p.pronamespace = 'core'::regnamespace and p.prokind = 'f'
          and (t.reltype = any (p.proargtypes::oid[]) or p.prosrc ~ ' core\.outbox;')
        order by p.proname, p.oid
    loop
        if v_row.takes_row then
            return next format('drop function %s', regexp_replace(v_row.oid::regprocedure::text, 'core\.outbox(?=[,)])', 'core.' || p_old, 'g'));
        end if;
        return next v_row.definition;
        if v_row.takes_row then
            return next format('alter function %s owner to %s', v_row.oid::regprocedure, v_row.owner);
            if v_row.proacl is not null then
                return next format('revoke all on function %s from public', v_row.oid::regprocedure);
                return query
                select format('grant execute on function %s to %s', v_row.oid::regprocedure,
                              case when a.grantee = 0 then 'public' else a.grantee::regrole::text end)
                from aclexplode(v_row.proacl) a order by 1;
            end if;
        end if;
    end loop;
end
$$;
CREATE FUNCTION core.partition_held(p_leaf oid, p_active interval, p_grace interval, p_whole boolean) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_held text;
begin
    -- Index outbox_dead.
    execute format('select count(*) from (select from %s o where o.failed_at is not null and o.deleted_at is null limit 1000) d', p_leaf::regclass)
    into v_held;
    if v_held <> '0' then
        return v_held || case v_held when '1' then ' dead letter' else ' dead letters' end;
    end if;
    -- Indexes outbox_age and outbox_tombstones.
    execute format('select case when exists (select from %1$s o where o.deleted_at is null and o.published_at is not null'
                   ' and greatest(o.published_at, o.failed_at, o.restored_at) > now() - $1)'
                   ' or exists (select from %1$s o where o.deleted_at > now() - $2) then ''events that are not old enough'' end', p_leaf::regclass)
    into v_held using p_active + p_grace, p_grace;
    if v_held is null and p_whole then
        execute format('select case when o.status in (''pending'', ''in_flight'') then o.status || '' events'' else ''events that are not old enough'' end'
                       ' from %s o where (o.status in (''pending'', ''in_flight'') and o.deleted_at is null) or o.delivered_at > now() - $1 limit 1', p_leaf::regclass)
        into v_held using p_active + p_grace;
    end if;
    return v_held;
end
$_$;
CREATE FUNCTION core.partition_missing(p_ahead integer) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
    c_last constant timestamptz := date_trunc('month', now()) + make_interval(months => p_ahead);
begin
    return (
        select w.month
        from (select generate_series(date_trunc('month', now()), c_last, interval '1 month') as month
              union
              -- A name has room for these years, and who writes another means nothing by it.
              (select date_trunc('month', d.occurred_at) from core.outbox_default d
               where d.occurred_at >= '1970-01-01' and d.occurred_at < now() + interval '10 years'
               order by d.occurred_at limit 1)) w
        where not exists (select from core.partitions() p
                          where not p.is_default and coalesce(p.since, '-infinity') < w.month + interval '1 month' and p.until > w.month)
        order by 1 limit 1);
end
$$;
CREATE FUNCTION core.partition_obstacles() RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select 'table ' || c.conrelid::regclass || ' has a foreign key to core.outbox (' || c.conname || '): drop it first, partitions have no key that it could refer to'
    from pg_constraint c where c.contype = 'f' and c.confrelid = 'core.outbox'::regclass
    union all
    select distinct 'view ' || r.ev_class::regclass || ' reads core.outbox and would go on reading the oldest partition alone: drop it, and create it again afterwards'
    from pg_depend d join pg_rewrite r on r.oid = d.objid
    where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = 'core.outbox'::regclass
      and r.ev_class <> 'core.outbox'::regclass
    union all
    select 'publication ' || p.pubname || ' names core.outbox: take it out first, and add it again afterwards'
    from pg_publication_rel r join pg_publication p on p.oid = r.prpubid where r.prrelid = 'core.outbox'::regclass
    union all
    select 'core.outbox has the row security policy ' || p.polname || ': drop it first, and create it again afterwards'
    from pg_policy p where p.polrelid = 'core.outbox'::regclass
    union all
    select 'index ' || i.indexrelid::regclass || ' is unique without occurred_at, which a partitioned table does not allow: drop it first'
    from pg_index i where i.indrelid = 'core.outbox'::regclass and i.indisunique and not i.indisprimary
    union all
    select 'table core.' || c.relname || ' inherits from core.outbox: end that first'
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'core.outbox'::regclass
$$;
CREATE FUNCTION core.partition_prepare(p_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
declare
    v_index record;
begin
    if to_regclass('core.' || quote_ident(p_name)) is null then
        execute format('create table core.%I (like core.outbox including all excluding indexes) with (%s)', p_name,
                       (select array_to_string(c.reloptions, ', ') from pg_class c
                        where c.oid = coalesce(to_regclass('core.outbox_default'), to_regclass('core.outbox'))));
        execute format('alter table core.%I drop constraint if exists outbox_month', p_name);
        execute format('alter table core.%I add constraint %I primary key (id)', p_name, p_name || '_pkey');
        for v_index in
            select regexp_replace(i.relname, '^outbox_', '') as name, pg_get_indexdef(x.indexrelid) as definition
            from pg_index x join pg_class i on i.oid = x.indexrelid
            where x.indrelid = 'core.outbox'::regclass and not x.indisunique order by x.indexrelid
        loop
            execute regexp_replace(v_index.definition, ' INDEX .*? ON (ONLY )?core\.outbox ',
                                   format(' INDEX %I ON core.%I ', p_name || '_' || v_index.name, p_name));
        end loop;
    elsif (select c.relispartition or c.relkind <> 'r' from pg_class c where c.oid = to_regclass('core.' || quote_ident(p_name))) then
        raise exception 'core.% is there already and cannot become a partition of core.outbox: rename it', p_name using errcode = 'SL409';
    end if;
end
$$;
CREATE FUNCTION core.partition_script(p_boundary timestamp with time zone, p_ahead integer) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
    c_table constant oid := 'core.outbox'::regclass;
    v_old     text := 'outbox_until_' || to_char(p_boundary, 'YYYY_MM');
    v_row     record;
begin
    for v_row in select t.tgname from pg_trigger t where t.tgrelid = c_table and not t.tgisinternal order by 1 loop
        return next format('drop trigger %I on core.outbox', v_row.tgname);
    end loop;
    return next format('alter table core.outbox rename to %I', v_old);
    for v_row in select i.relname from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c_table order by 1 loop
        return next format('alter index core.%I rename to %I', v_row.relname, v_old || '_' || regexp_replace(v_row.relname, '^outbox_', ''));
    end loop;
    return next format('create table core.outbox (like core.%I including all excluding indexes) partition by range (occurred_at)', v_old);
    return next 'alter table core.outbox drop constraint outbox_month';
    return next format('alter table core.outbox owner to %I', (select c.relowner::regrole from pg_class c where c.oid = c_table));
    return next format('comment on table core.outbox is %L', obj_description(c_table, 'pg_class'));
    for v_row in select pg_get_indexdef(x.indexrelid) as definition from pg_index x where x.indrelid = c_table and not x.indisunique
                 order by x.indexrelid loop
        return next v_row.definition;
    end loop;
    return next format('alter table core.outbox attach partition core.%I for values from (minvalue) to (%L)', v_old, p_boundary);
    return next format('alter table core.%I drop constraint outbox_month', v_old);
    return next 'alter table core.outbox attach partition core.outbox_default default';
    for v_month in 0 .. p_ahead - 1 loop
        return next format('select core.partition_add(%L, %L)', p_boundary + make_interval(months => v_month),
                           p_boundary + make_interval(months => v_month + 1));
    end loop;
    for v_row in select t.tgname, t.tgenabled, pg_get_triggerdef(t.oid) as definition from pg_trigger t
                 where t.tgrelid = c_table and not t.tgisinternal order by 1 loop
        return next v_row.definition;
        if v_row.tgenabled <> 'O' then
            return next format('alter table core.outbox %s trigger %I',
                               case v_row.tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'disable' end, v_row.tgname);
        end if;
    end loop;
    return next 'create trigger outbox_once before insert on core.outbox for each row'
                ' when (current_setting(''sluice.ids_checked'', true) is distinct from statement_timestamp()::text)'
                ' execute function core.outbox_once()';
    for v_row in
        select null::name as attname, a.* from pg_class c, aclexplode(c.relacl) a where c.oid = c_table
        union all
        select t.attname, a.* from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c_table
        order by 1, 3, 4
    loop
        return next format('grant %s%s on core.outbox to %s%s', v_row.privilege_type, ' (' || quote_ident(v_row.attname) || ')',
                           case when v_row.grantee = 0 then 'public' else v_row.grantee::regrole::text end,
                           case when v_row.is_grantable then ' with grant option' else '' end);
    end loop;
    return query select f from core.partition_functions(v_old) as f;
end
$$;
CREATE FUNCTION core.partition_upkeep(p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval, p_ahead integer, p_dry_run boolean, p_actor text, p_surface text, p_reason text) RETURNS TABLE(action text, name text, count bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '100ms'
    AS $$
#variable_conflict use_column
declare
    v_from timestamptz;
    v_leaf record;
begin
    perform core.retention_check(p_active, p_grace, p_handled_active, p_handled_grace);
    if not core.outbox_partitioned() then
        -- `sluice ladder partition` was begun and left: its constraint would refuse what occurs from its month on.
        if not p_dry_run and core.partition_boundary() < now() + interval '2 days' then
            alter table core.outbox drop constraint outbox_month;
            action := 'abandoned';
            name := 'outbox';
            count := 0;
            insert into core.audit (actor, surface, action, count, reason, detail)
            values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'partition.abandoned', 0, coalesce(p_reason, ''), '{}');
            return next;
        end if;
        return;
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('sluice.partitions', 0)) then
        return;
    end if;
    v_from := core.partition_missing(p_ahead);
    if v_from is not null then
        action := 'created';
        name := 'outbox_' || to_char(v_from, 'YYYY_MM');
        count := case when p_dry_run then 0 else core.partition_add(v_from, v_from + interval '1 month') end;
    else
        select d.leaf, d.name, d.rows into v_leaf from core.partition_droppable(p_active, p_grace, p_dry_run) d;
        if not found then
            return;
        end if;
        action := 'dropped';
        name := v_leaf.name;
        count := v_leaf.rows;
        if not p_dry_run then
            -- Whatever came between the check and the lock shows in the indexes that are asked first; the rest cannot change.
            lock table core.outbox in access exclusive mode;
            if core.partition_held(v_leaf.leaf, p_active, p_grace, false) is not null then
                return;
            end if;
            execute format('alter table core.outbox detach partition core.%I', v_leaf.name);
            execute format('drop table core.%I', v_leaf.name);
        end if;
    end if;
    if not p_dry_run then
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'partition.' || action, count, coalesce(p_reason, ''),
                jsonb_build_object('partition', name));
    end if;
    return next;
end
$$;
CREATE FUNCTION core.partitions() RETURNS TABLE(leaf oid, name text, since timestamp with time zone, until timestamp with time zone, is_default boolean, rows bigint, bytes bigint, note text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO'
    SET "TimeZone" TO 'UTC'
    AS $$
    select p.oid, p.relname::text, substring(p.bound from 'FROM \(''([^'']+)''\)')::timestamptz,
           substring(p.bound from 'TO \(''([^'']+)''\)')::timestamptz, p.bound = 'DEFAULT',
           greatest(coalesce((select s.n_live_tup from pg_stat_user_tables s where s.relid = p.oid), 0), p.reltuples::bigint, 0),
           pg_total_relation_size(p.oid), coalesce(substring(obj_description(p.oid, 'pg_class') from '^held by .*'), '')
    from (select c.oid, c.relname, c.reltuples, pg_get_expr(c.relpartbound, c.oid) as bound
          from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = to_regclass('core.outbox') and c.relispartition) p
    order by p.bound = 'DEFAULT', 4, 2
$$;
CREATE FUNCTION core.patrol_heal(p_found jsonb) RETURNS TABLE(id uuid, cause text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_channels text[];
begin
    return query
    with locked as materialized (
        select o.id, o.seq, o.generation, o.event_type, coalesce(o.claimed_by, 'nobody') as claimed_by, f.cause,
               f.cause = 'passed_over' and o.retry_after is not null as waits_for_nobody
        from jsonb_to_recordset(p_found) as f(id uuid, cause text)
        join core.outbox o on o.id = f.id
        where case f.cause
                  when 'passed_over' then o.status = 'pending' and (o.retry_after is null or o.retry_after < now() and core.outbox_waits_for_nobody(o))
                  when 'blocker_gone' then o.status = 'pending' and o.blocked_since is not null
                  when 'no_claim' then o.status = 'in_flight'
              end
        for update of o skip locked),
    due as (
        update core.outbox o
        set retry_after = now(), blocked_since = null,
            lane = case when l.waits_for_nobody then null else o.lane end, progress = case when l.waits_for_nobody then null else o.progress end
        from locked l
        where o.id = l.id and l.cause <> 'no_claim'),
    owned as (
        update core.outbox o
        set claimed_by = l.claimed_by, claimed_at = coalesce(o.claimed_at, now())
        from locked l
        where o.id = l.id and l.cause = 'no_claim'),
    expired as (
        insert into core.claims (worker, generation, ttl, expires_at, seqs)
        select l.claimed_by, l.generation, interval '0', now(), array[l.seq] from locked l where l.cause = 'no_claim'),
    noted as (
        insert into core.stranded (event_id, event_type, generation, cause)
        select l.id, l.event_type, l.generation, l.cause from locked l)
    select l.id, l.cause from locked l;
    delete from core.stranded s where s.id <= (select max(n.id) - 1000 from core.stranded n);
    v_channels := array(select distinct o.channel from core.outbox o
                        where o.id in (select f.id from jsonb_to_recordset(p_found) as f(id uuid)));
    perform pg_notify(c.channel, '') from unnest(v_channels) as c(channel);
end
$$;
CREATE FUNCTION core.patrol_release_keys() RETURNS TABLE(id uuid, cause text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    with stale as (
        delete from core.keys_in_flight k
        where k.ordering_key in (
            select h.ordering_key from core.keys_in_flight h
            where not exists (select from core.outbox o where o.id = h.event_id and o.status = 'in_flight')
            for update skip locked)
        returning k.ordering_key),
    behind as (
        select o.id, o.event_type, o.generation
        from stale s
        cross join lateral (
            select w.id, w.event_type, w.generation, w.blocked_since from core.outbox w
            where w.ordering_key = s.ordering_key and w.status = 'pending' and w.deleted_at is null
            order by w.seq limit 1) o
        where o.blocked_since is null),
    noted as (
        insert into core.stranded (event_id, event_type, generation, cause)
        select b.id, b.event_type, b.generation, 'blocker_gone' from behind b)
    select b.id, 'blocker_gone' from behind b;
end
$$;
CREATE FUNCTION core.patrol_step(p_holder text, p_lease interval, p_overlooked interval, p_settled_again interval, p_rows integer) RETURNS TABLE(held boolean, round_over boolean, rows bigint, id uuid, cause text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
    c_slice  constant bigint := 4096;
    -- Below any number, those that somebody wrote by hand too.
    c_first  constant bigint := -9223372036854775807;
    c_skips  constant int := 1000;
    v_state  core.patrol;
    v_number bigint;
    v_slice  bigint;
    v_read   bigint := 0;
    v_rows   bigint;
    v_live   bigint;
    v_newest timestamptz;
    v_last   bigint := (select s.last_value - (not s.is_called)::int from core.outbox_seq s);
    v_over   boolean := false;
    v_skips  int := 0;
    v_ids    uuid[];
    v_found  jsonb := '[]';
begin
    select * into v_state from core.patrol p for update skip locked;
    if not found or (v_state.holder <> p_holder and v_state.lease_until > now()) then
        held := false;
        round_over := false;
        rows := 0;
        return next;
        return;
    end if;
    perform set_config('synchronous_commit', 'off', true);
    if v_state.generation = 0 then
        -- A round begins.
        return query select true, false, 0::bigint, r.id, r.cause from core.patrol_release_keys() r;
    end if;
    while v_read < p_rows and v_skips < c_skips loop
        -- Index outbox_scan: the next number there is, in this generation or the next one.
        v_number := (select o.seq from core.outbox o where o.generation = v_state.generation and o.seq > v_state.after order by o.seq limit 1);
        if v_number is null then
            delete from core.patrol_slices s where s.generation = v_state.generation and s.slice * c_slice > v_state.after;
            v_state.generation := (select min(o.generation) from core.outbox o where o.generation > v_state.generation);
            v_state.after := c_first;
            if v_state.generation is null then
                v_state.generation := 0;
                v_over := true;
                exit;
            end if;
            continue;
        end if;
        v_slice := floor((v_number - 1)::numeric / c_slice)::bigint;
        -- Slices whose events were all deleted.
        delete from core.patrol_slices s
        where s.generation = v_state.generation and s.slice * c_slice >= v_state.after and s.slice < v_slice;
        v_state.after := (v_slice + 1) * c_slice;
        if exists (
            select from core.patrol_slices s
            where s.generation = v_state.generation and s.slice = v_slice and s.settled_at > now() - p_settled_again) then
            v_skips := v_skips + 1;
            continue;
        end if;
        with looked as materialized (
            select o.id, o.seq, o.published_at, o.status in ('pending', 'in_flight') as live,
                   case
                       when o.status = 'pending' and o.deleted_at is null and o.retry_after is null
                            and o.published_at < now() - p_overlooked
                            and exists (
                                select from core.claim_cursors c
                                where c.generation = o.generation and o.seq <= c.low
                                  and (c.interests is null or core.outbox_route(o) like any (c.interests))) then 'passed_over'
                       when o.status = 'pending' and o.deleted_at is null and o.retry_after < now() - p_overlooked
                            and core.outbox_waits_for_nobody(o) then 'passed_over'
                       when o.status = 'pending' and o.deleted_at is null
                            and o.blocked_since is not null and o.blocked_since < now() - p_overlooked
                            and o.retry_after > now()
                            and core.outbox_blocker(o.ordering_key, o.seq, o.id) is null then 'blocker_gone'
                       when o.status = 'in_flight' and coalesce(o.claimed_at, o.published_at) < now() - p_overlooked
                            and not exists (
                                select from core.claims c where c.generation = o.generation and o.seq = any (c.seqs)) then 'no_claim'
                   end as cause
            from core.outbox o
            where o.generation = v_state.generation and o.seq > v_slice * c_slice and o.seq <= (v_slice + 1) * c_slice
            order by o.seq)
        select count(*), count(*) filter (where l.live), max(l.published_at),
               coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'cause', l.cause)) filter (where l.cause is not null), '[]')
        into v_rows, v_live, v_newest, v_found
        from looked l;
        v_read := v_read + v_rows;
        if v_live = 0 and v_state.after <= v_last and v_newest < now() - interval '10 minutes' then
            insert into core.patrol_slices as s (generation, slice) values (v_state.generation, v_slice)
            on conflict (generation, slice) do update set settled_at = now();
        else
            delete from core.patrol_slices s where s.generation = v_state.generation and s.slice = v_slice;
        end if;
        if v_found <> '[]' then
            return query
            select true, false, 0::bigint, h.id, h.cause from core.patrol_heal(v_found) h;
        end if;
    end loop;
    update core.patrol p
    set holder = p_holder, lease_until = now() + p_lease, generation = v_state.generation, after = v_state.after;
    held := true;
    round_over := v_over;
    rows := v_read;
    id := null;
    cause := null;
    return next;
end
$$;
CREATE FUNCTION core.payload_complaint(p_payload jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_most  bigint := (select s.value::bigint from core.settings s where s.key = 'payload_max_bytes');
    v_bytes bigint := octet_length(core.payload_text(p_payload, v_most + v_most / 2));
begin
    if v_bytes > v_most then
        v_bytes := v_bytes - (
            select coalesce(sum(case jsonb_typeof(c)
                when 'array' then greatest(jsonb_array_length(c) - 1, 0)
                else greatest(2 * (select count(*) from jsonb_object_keys(c)) - 1, 0) end), 0)
            from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "object" || @.type() == "array")') as c);
    end if;
    if v_bytes <= v_most then
        return null;
    end if;
    return format('payload must be at most %s bytes with its numbers written out (core.settings, payload_max_bytes)', v_most);
end
$_$;
CREATE FUNCTION core.payload_text(p_payload jsonb, p_most bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_number jsonb;
    v_bytes  bigint := 0;
    v_text   text;
begin
    -- As jsonb it has at most four times as many bytes as it has as text.
    if pg_column_size(p_payload) > 8 * p_most then
        return null;
    end if;
    for v_number in select n from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "number")') as n loop
        v_bytes := v_bytes + octet_length(v_number::text);
        if v_bytes > p_most then
            return null;
        end if;
    end loop;
    v_text := p_payload::text;
    return case when octet_length(v_text) <= p_most then v_text end;
exception
    when program_limit_exceeded or out_of_memory then
        return null;
end
$_$;
CREATE FUNCTION core.prune(p_groups text[], p_kept interval) RETURNS TABLE(cursors bigint, failure_groups bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- Rows that a claim holds are in use; one that is not renewed now is tomorrow.
    update core.claim_cursors c set saved_at = now()
    where c.ctid = any (array(
        select u.ctid from core.claim_cursors u
        where u.group_key = any (p_groups) and u.saved_at < now() - interval '1 day'
        for update skip locked));
    -- A group that comes back scans once more from the beginning. The row without a name is the floor of all keys.
    delete from core.claim_cursors c
    where c.ctid = any (array(
        select u.ctid from core.claim_cursors u
        where u.group_key <> '' and u.saved_at < now() - interval '7 days'
        for update skip locked));
    get diagnostics cursors = row_count;
    delete from core.claim_heads h where not exists (select from core.claim_cursors c where c.group_key = h.group_key);
    -- Index outbox_dead_groups. What fails meanwhile renews the row first, and the row is asked again.
    delete from core.failure_groups c
    where c.last_seen_at < now() - greatest(p_kept, interval '1 day') - interval '1 day'
      and not exists (select from core.outbox o where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null);
    get diagnostics failure_groups = row_count;
    return next;
end
$$;
CREATE FUNCTION core.relay_report(p_ids uuid[], p_replays bigint[], p_handlers text[], p_keys text[], p_handled boolean[], p_failed boolean[], p_attempts bigint[], p_errors text[], p_classes text[], p_fingerprints text[], p_progress jsonb[]) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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
CREATE FUNCTION core.relay_report_recorded(p_ids uuid[], p_replays bigint[], p_handlers text[], p_keys text[], p_handled boolean[], p_failed boolean[], p_attempts bigint[], p_errors text[], p_classes text[], p_fingerprints text[], p_progress jsonb[], p_log jsonb[]) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_answers text[];
begin
    insert into core.event_handled (handler_name, idempotency_key, event_id)
    select t.handler, t.key, t.id from unnest(p_ids, p_handlers, p_keys, p_handled) as t(id, handler, key, handled)
    where t.handled order by t.handler collate "C", t.key collate "C"
    on conflict do nothing;
    perform from core.outbox o where o.id = any (p_ids) order by o.id for update;
    select array_agg(r.answer order by r.place) into v_answers
    from core.relay_report(p_ids, p_replays, p_handlers, p_keys, p_handled, p_failed, p_attempts, p_errors, p_classes, p_fingerprints,
                           p_progress) with ordinality as r(answer, place);
    for i in 1 .. cardinality(p_ids) loop
        if v_answers[i] = 'done' and p_log[i] is not null then
            perform core.attempts_record(p_log[i], '{}');
        end if;
    end loop;
    return query select a from unnest(v_answers) with ordinality as t(a, place) order by t.place;
end
$$;
CREATE FUNCTION core.relay_switch(p_state text, p_broker text, p_actor text, p_surface text, p_reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
declare
    c_tries constant int := 50;
    v_old   text;
    v_new   text := p_state || case when p_state = 'off' then '' else ' ' || p_broker end;
    v_since timestamptz;
    v_pid   int;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    elsif p_state not in ('off', 'on', 'draining') or (p_state <> 'off' and p_broker not in ('nats', 'redis')) then
        raise exception 'state: expected off, on or draining with nats or redis, got %', quote_literal(v_new) using errcode = 'SL422';
    end if;
    for v_try in 1 .. c_tries loop
        begin
            lock table core.settings in access exclusive mode;
            exit;
        exception when lock_not_available then
            select a.pid, a.xact_start into v_pid, v_since
            from pg_locks l join pg_stat_activity a on a.pid = l.pid
            where l.relation = 'core.settings'::regclass and l.granted and l.pid <> pg_backend_pid()
            order by a.xact_start nulls last limit 1;
            if v_try = c_tries then
                raise exception 'relay: a transaction uses core.settings and does not end (process %, since %): wait for it or end it, then try again',
                    coalesce(v_pid::text, 'unknown'), coalesce(v_since::text, 'unknown') using errcode = 'SL409';
            end if;
            perform pg_sleep(0.1);
        end;
    end loop;
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
CREATE FUNCTION core.retention_check(p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    -- Whoever called the function that called this one, also after a SET ROLE.
    v_caller text := coalesce(nullif(current_setting('role', true), 'none'), session_user);
    v_short  record;
begin
    if coalesce(p_active <= interval '0', true) then
        raise exception 'p_active: expected longer than zero, got %', coalesce(p_active::text, 'null') using errcode = 'SL422';
    elsif coalesce(p_grace < interval '0', true) then
        raise exception 'p_grace: expected zero or longer, got %', coalesce(p_grace::text, 'null') using errcode = 'SL422';
    elsif coalesce(p_handled_grace < interval '0', true) then
        raise exception 'p_handled_grace: expected zero or longer, got %', coalesce(p_handled_grace::text, 'null') using errcode = 'SL422';
    elsif coalesce(p_handled_active <= p_active + p_grace, true) then
        raise exception 'p_handled_active: % must be longer than p_active + p_grace (%), or a replayed event could be handled twice',
            coalesce(p_handled_active::text, 'null'), p_active + p_grace using errcode = 'SL422';
    end if;
    if pg_has_role(v_caller, (select c.relowner from pg_class c where c.oid = 'core.outbox'::regclass), 'member') then
        return;
    end if;
    select t.name, t.asked, s.key, s.value as least into v_short
    from (values ('outbox.active', p_active), ('outbox.grace', p_grace),
                 ('event_handled.active', p_handled_active), ('event_handled.grace', p_handled_grace)) as t(name, asked)
    join core.settings s on s.key = 'retention_' || replace(t.name, '.', '_')
    where t.asked < s.value::interval
    limit 1;
    if found then
        raise exception 'retention.% is %, and this database keeps at least % (core.settings, %): only the owner of the schema may shorten it',
            v_short.name, v_short.asked, v_short.least, v_short.key using errcode = 'SL403';
    end if;
end
$$;
CREATE TABLE core.sinks (
    name text NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    handlers text[] NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_by text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    opened_at timestamp with time zone,
    open_until timestamp with time zone,
    open_reason text DEFAULT ''::text NOT NULL,
    declared_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT sinks_circuit_whole CHECK (((opened_at IS NULL) = (open_until IS NULL))),
    CONSTRAINT sinks_state_known CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);
COMMENT ON TABLE core.sinks IS 'Sinks of the daemons: active, paused or disabled, by whom and why, and their circuits';
CREATE FUNCTION core.sink_circuit(p_name text, p_open_for interval, p_actor text, p_surface text, p_reason text) RETURNS core.sinks
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.sink_declare(p_names text[], p_kinds text[], p_targets text[], p_handlers jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    insert into core.sinks as s (name, kind, target, handlers)
    select t.name, t.kind, t.target, array(select jsonb_array_elements_text(p_handlers -> (t.place::int - 1)))
    from unnest(p_names, p_kinds, p_targets) with ordinality as t(name, kind, target, place)
    order by t.name
    on conflict (name) do update
    set kind = excluded.kind, target = excluded.target, handlers = excluded.handlers, declared_at = now()
$$;
CREATE FUNCTION core.sink_switch(p_name text, p_state text, p_actor text, p_surface text, p_reason text) RETURNS core.sinks
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.subscribe(p_generation bigint, p_handlers text[], p_event_types jsonb, p_contexts text[], p_channels text[], p_declared_by text DEFAULT ''::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_changed bigint;
    v_handler text;
    -- What these want now is not all that they wanted, as far as anybody can tell.
    v_narrowed text[] := array(
        select s.handler_name
        from unnest(p_handlers, p_contexts, p_channels) with ordinality as t(handler, context, channel, place)
        join core.subscriptions s on s.generation = p_generation and s.handler_name = t.handler
        where (s.event_types, s.context, s.channel) is distinct from
              (array(select jsonb_array_elements_text(p_event_types -> (t.place::int - 1))), t.context, t.channel));
begin
    if cardinality(v_narrowed) > 0 then
        perform core.subscriptions_freeze();
        -- Whoever parks an event now has to be seen below; see core.outbox_park.
        perform pg_advisory_xact_lock(hashtextextended('sluice.park', 0));
    end if;
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
        -- Locked before it is read: whoever moves the floor now does not know of these subscriptions.
        insert into core.claim_cursors (group_key, low) values ('', 0) on conflict do nothing;
        perform from core.claim_cursors c where c.group_key = '' for update;
        update core.claim_cursors c set low = least(c.low, c.passed - 1), passed = null where c.group_key = '' and c.passed is not null;
    end if;
    foreach v_handler in array v_narrowed loop
        perform core.outbox_free(p_generation, v_handler);
    end loop;
    update core.subscriptions s
    set declared_by = p_declared_by, registered_at = now()
    where s.generation = p_generation and s.handler_name = any (p_handlers) and s.declared_by <> p_declared_by and p_declared_by <> '';
    return v_changed;
end
$$;
CREATE FUNCTION core.subscriptions_freeze() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    c_tries constant int := 100;
    v_before text := current_setting('lock_timeout');
    v_pid   int;
    v_since timestamptz;
begin
    for v_try in 1 .. c_tries loop
        begin
            perform set_config('lock_timeout', '100ms', true);
            perform pg_advisory_xact_lock(hashtextextended('sluice.subscriptions', 0));
            perform set_config('lock_timeout', v_before, true);
            return;
        exception when lock_not_available then
            if v_try = c_tries then
                select a.pid, a.xact_start into v_pid, v_since
                from pg_locks l join pg_stat_activity a on a.pid = l.pid
                where l.locktype = 'advisory' and l.granted and l.objsubid = 1
                  and l.database = (select d.oid from pg_database d where d.datname = current_database())
                  and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended('sluice.subscriptions', 0)
                order by a.xact_start limit 1;
                raise exception 'subscriptions: a transaction that settles events does not end (process %, since %): wait for it or end it, then try again',
                    coalesce(v_pid::text, 'unknown'), coalesce(v_since::text, 'unknown') using errcode = 'SL409';
            end if;
            perform pg_sleep(0.05);
        end;
    end loop;
end
$$;
CREATE FUNCTION core.subscriptions_hold() RETURNS void
    LANGUAGE sql
    AS $$ select pg_advisory_xact_lock_shared(hashtextextended('sluice.subscriptions', 0)) $$;
CREATE FUNCTION core.sweep_next(p_active interval, p_limit integer) RETURNS TABLE(id uuid, failed boolean)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_below timestamptz;
    v_above timestamptz;
    v_rows  int;
begin
    select s.below, s.above into v_below, v_above from core.swept_one_by_one() s;
    -- Index outbox_age. Old events that are not finished, or were delivered late, stay at its head; they are few.
    return query
    select o.id, o.status = 'failed' from core.outbox o
    where o.deleted_at is null and o.published_at is not null and greatest(o.published_at, o.failed_at, o.restored_at) <= now() - p_active
      and o.status in ('delivered', 'failed') and coalesce(o.delivered_at, '-infinity') <= now() - p_active
      and (o.occurred_at < v_below or o.occurred_at >= v_above)
    order by greatest(o.published_at, o.failed_at, o.restored_at) limit p_limit for update skip locked;
    get diagnostics v_rows = row_count;
    if v_below < 'infinity' then
        -- The dead letters of the months. Index outbox_dead.
        return query
        select o.id, true from core.outbox o
        where o.deleted_at is null and o.failed_at <= now() - p_active and o.status = 'failed'
          and greatest(o.published_at, o.failed_at, o.restored_at) <= now() - p_active
          and o.occurred_at >= v_below and o.occurred_at < v_above
        order by o.failed_at limit p_limit - v_rows for update skip locked;
    end if;
end
$$;
CREATE FUNCTION core.swept_one_by_one(OUT below timestamp with time zone, OUT above timestamp with time zone) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if core.outbox_partitioned() then
        select coalesce(min(p.until) filter (where p.since is null), min(p.since)), max(p.until) into below, above
        from core.partitions() p where not p.is_default;
    end if;
    below := coalesce(below, 'infinity');
    above := coalesce(above, 'infinity');
end
$$;
CREATE FUNCTION core.token_secret() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ select value from core.secrets where key = 'pull_tokens' $$;
CREATE FUNCTION core.unsubscribe(p_generation bigint, p_handler text, p_actor text, p_surface text, p_reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform core.subscriptions_freeze();
    -- Whoever parks an event now has to be seen below; see core.outbox_park.
    perform pg_advisory_xact_lock(hashtextextended('sluice.park', 0));
    perform from core.settings where key = 'subscriptions_version' for update;
    delete from core.subscriptions where generation = p_generation and handler_name = p_handler;
    if not found then
        raise exception 'handler % has no subscription in generation %', p_handler, p_generation using errcode = 'SL404';
    end if;
    update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    perform core.outbox_free(p_generation, p_handler);
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'unsubscribe', coalesce(p_reason, ''),
            jsonb_build_object('generation', p_generation, 'handler_name', p_handler));
end
$$;
CREATE FUNCTION core.worker_announce(p_identity text, p_generation bigint, p_handlers text[], p_listener text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION core.worker_depart(p_identity text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ delete from core.workers where identity = p_identity $$;
CREATE TABLE core.attempts (
    event_id uuid NOT NULL,
    number integer NOT NULL,
    claim_seq bigint NOT NULL,
    replay integer DEFAULT 0 NOT NULL,
    handler_name text,
    worker text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    duration_us bigint NOT NULL,
    outcome text NOT NULL,
    status_code integer,
    error text,
    response text,
    trace_id text,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT attempts_number_check CHECK ((number >= 1)),
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['handled'::text, 'failed'::text, 'expired'::text])))
);
COMMENT ON TABLE core.attempts IS 'What each attempt at an event did: the first and the latest; deleted with the event';
CREATE TABLE core.audit (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text NOT NULL,
    surface text NOT NULL,
    db_user text DEFAULT SESSION_USER NOT NULL,
    action text NOT NULL,
    event_id uuid,
    count bigint DEFAULT 1 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);
COMMENT ON TABLE core.audit IS 'Who did what, through which surface and why; append-only';
ALTER TABLE core.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME core.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE core.audited (
    xid bigint NOT NULL
);
COMMENT ON TABLE core.audited IS 'Transactions whose changes of tombstones are audited already; empty between calls';
CREATE TABLE core.claim_cursors (
    group_key text NOT NULL,
    low bigint NOT NULL,
    saved_at timestamp with time zone DEFAULT now() NOT NULL,
    mark bigint DEFAULT 0 NOT NULL,
    mark_xid bigint DEFAULT 0 NOT NULL,
    generation bigint,
    interests text[],
    passed bigint
)
WITH (fillfactor='50');
CREATE TABLE core.claim_heads (
    group_key text NOT NULL,
    head bigint NOT NULL
)
WITH (fillfactor='10');
COMMENT ON TABLE core.claim_heads IS 'How far the processes of a group have shared out a backlog';
CREATE TABLE core.claims (
    batch bigint DEFAULT (1 + (floor((random() * ('9007199254740991'::bigint)::double precision)))::bigint) NOT NULL,
    worker text NOT NULL,
    generation bigint NOT NULL,
    ttl interval NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    seqs bigint[] NOT NULL,
    keyed boolean DEFAULT false NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0', toast_tuple_target='8160');
ALTER TABLE ONLY core.claims ALTER COLUMN seqs SET STORAGE EXTERNAL;
CREATE TABLE core.delivery_history (
    hourly boolean NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    delivered bigint DEFAULT 0 NOT NULL,
    replayed bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    retried bigint DEFAULT 0 NOT NULL,
    first text DEFAULT ''::text NOT NULL,
    later text DEFAULT ''::text NOT NULL,
    replays text DEFAULT ''::text NOT NULL,
    newest bigint,
    backlog bigint,
    lag_ms bigint,
    CONSTRAINT delivery_history_kind_check CHECK ((kind = ANY (ARRAY['all'::text, 'handler'::text, 'type'::text, 'sink'::text])))
)
WITH (fillfactor='70');
COMMENT ON TABLE core.delivery_history IS 'Deliveries by minute (a day) and by hour (45 days), of all, per handler, event type and sink';
CREATE TABLE core.event_handled (
    handler_name text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid
)
WITH (autovacuum_vacuum_insert_scale_factor='0.1');
COMMENT ON TABLE core.event_handled IS 'Which handler has handled which idempotency key';
ALTER TABLE core.failure_groups ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME core.failure_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE core.keys_in_flight (
    ordering_key text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0');
COMMENT ON TABLE core.keys_in_flight IS 'Ordering keys of which an event is in flight, and which one';
CREATE TABLE core.ladder_samples (
    hour timestamp with time zone NOT NULL,
    rows bigint,
    latencies bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    notify_queue double precision,
    snapshot_seconds bigint,
    dead_rows bigint
)
WITH (fillfactor='50');
COMMENT ON TABLE core.ladder_samples IS 'Hourly figures that tell which step of the ladder is due; the last 35 days';
CREATE TABLE core.move_slices (
    table_name text NOT NULL,
    slice text NOT NULL,
    digest text NOT NULL,
    rows bigint NOT NULL
);
COMMENT ON TABLE core.move_slices IS 'What `sluice move` brought into this database, slice by slice';
CREATE TABLE core.patrol (
    single boolean DEFAULT true NOT NULL,
    holder text DEFAULT ''::text NOT NULL,
    lease_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    generation bigint DEFAULT 0 NOT NULL,
    after bigint DEFAULT '-9223372036854775807'::bigint NOT NULL,
    CONSTRAINT patrol_single_check CHECK (single)
)
WITH (fillfactor='50');
COMMENT ON TABLE core.patrol IS 'Where the patrol is and which process walks it';
CREATE TABLE core.patrol_slices (
    generation bigint NOT NULL,
    slice bigint NOT NULL,
    settled_at timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE core.patrol_slices IS 'Slices of numbers that the patrol found wholly settled';
CREATE TABLE core.secrets (
    key text NOT NULL,
    value text NOT NULL,
    description text NOT NULL
);
CREATE TABLE core.settings (
    key text NOT NULL,
    value text NOT NULL,
    description text NOT NULL
);
CREATE TABLE core.sluice_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL
);
CREATE TABLE core.stranded (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    generation bigint NOT NULL,
    cause text NOT NULL
);
COMMENT ON TABLE core.stranded IS 'Events that the patrol found stranded, and why; the latest 1,000';
ALTER TABLE core.stranded ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME core.stranded_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE core.subscriptions (
    generation bigint NOT NULL,
    handler_name text NOT NULL,
    event_types text[] NOT NULL,
    context text,
    channel text,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    declared_by text DEFAULT ''::text NOT NULL,
    served_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT subscriptions_generation_check CHECK ((generation >= 1))
)
WITH (fillfactor='50');
COMMENT ON TABLE core.subscriptions IS 'Which handler of which generation wants which events';
CREATE TABLE core.workers (
    identity text NOT NULL,
    generation bigint NOT NULL,
    handlers text[] NOT NULL,
    listener text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE core.workers IS 'Worker processes and when they were last seen';
ALTER TABLE ONLY core.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (event_id, number);
ALTER TABLE ONLY core.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.audited
    ADD CONSTRAINT audited_pkey PRIMARY KEY (xid);
ALTER TABLE ONLY core.claim_cursors
    ADD CONSTRAINT claim_cursors_pkey PRIMARY KEY (group_key);
ALTER TABLE ONLY core.claim_heads
    ADD CONSTRAINT claim_heads_pkey PRIMARY KEY (group_key);
ALTER TABLE ONLY core.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (batch);
ALTER TABLE ONLY core.delivery_history
    ADD CONSTRAINT delivery_history_pkey PRIMARY KEY (hourly, at, kind, name);
ALTER TABLE ONLY core.deployments
    ADD CONSTRAINT deployments_pkey PRIMARY KEY (generation);
ALTER TABLE ONLY core.event_handled
    ADD CONSTRAINT event_handled_pkey PRIMARY KEY (handler_name, idempotency_key);
ALTER TABLE ONLY core.failure_groups
    ADD CONSTRAINT failure_groups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.keys_in_flight
    ADD CONSTRAINT keys_in_flight_pkey PRIMARY KEY (ordering_key);
ALTER TABLE ONLY core.ladder_samples
    ADD CONSTRAINT ladder_samples_pkey PRIMARY KEY (hour);
ALTER TABLE ONLY core.move_slices
    ADD CONSTRAINT move_slices_pkey PRIMARY KEY (table_name, slice);
ALTER TABLE ONLY core.operation_items
    ADD CONSTRAINT operation_items_pkey PRIMARY KEY (operation_id, place);
ALTER TABLE ONLY core.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.patrol
    ADD CONSTRAINT patrol_pkey PRIMARY KEY (single);
ALTER TABLE ONLY core.patrol_slices
    ADD CONSTRAINT patrol_slices_pkey PRIMARY KEY (generation, slice);
ALTER TABLE ONLY core.saved_filters
    ADD CONSTRAINT saved_filters_pkey PRIMARY KEY (name);
ALTER TABLE ONLY core.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (key);
ALTER TABLE ONLY core.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);
ALTER TABLE ONLY core.sinks
    ADD CONSTRAINT sinks_pkey PRIMARY KEY (name);
ALTER TABLE ONLY core.sluice_migrations
    ADD CONSTRAINT sluice_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY core.stranded
    ADD CONSTRAINT stranded_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (generation, handler_name);
ALTER TABLE ONLY core.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (identity);
CREATE INDEX attempts_age ON core.attempts USING btree (recorded_at);
CREATE INDEX audit_event ON core.audit USING btree (event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX audit_group ON core.audit USING btree (((detail ->> 'fingerprint'::text)), id) WHERE (action = ANY (ARRAY['note'::text, 'acknowledge'::text, 'unacknowledge'::text]));
CREATE INDEX claims_expiry ON core.claims USING btree (expires_at);
CREATE INDEX event_handled_age ON core.event_handled USING brin (handled_at) WITH (pages_per_range='16');
CREATE UNIQUE INDEX failure_groups_kind ON core.failure_groups USING btree (fingerprint, event_type, failure_class, source, COALESCE(target, ''::text));
CREATE INDEX operation_items_in_flight ON core.operation_items USING btree (operation_id) WHERE (state = 'in_flight'::text);
CREATE INDEX operations_recent ON core.operations USING btree (planned_at);
CREATE INDEX operations_running ON core.operations USING btree (started_at) WHERE ((state = 'running'::text) OR ((state = ANY (ARRAY['paused'::text, 'stopped'::text, 'cancelled'::text])) AND (taken > (((delivered + failed_again) + skipped) + changed))));
CREATE INDEX outbox_age ON core.outbox USING btree (GREATEST(published_at, failed_at, restored_at)) WHERE ((deleted_at IS NULL) AND (published_at IS NOT NULL));
CREATE INDEX outbox_dead ON core.outbox USING btree (failed_at, seq) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_dead_groups ON core.outbox USING btree (group_id, failed_at, seq, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_dead_kinds ON core.outbox USING btree (group_id, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_keyed ON core.outbox USING btree (((seq + 0))) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_ordering ON core.outbox USING btree (ordering_key, seq) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_scan ON core.outbox USING btree (generation, seq);
CREATE INDEX outbox_tombstones ON core.outbox USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outbox_waiting ON core.outbox USING btree (generation, COALESCE(lane, ''::text), retry_after) WHERE (retry_after IS NOT NULL);
CREATE INDEX outbox_waiting_keys ON core.outbox USING btree (ordering_key, seq) WHERE ((ordering_key IS NOT NULL) AND (retry_after IS NOT NULL));
CREATE INDEX stranded_at ON core.stranded USING btree (at);
CREATE TRIGGER audit_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON core.audit FOR EACH STATEMENT EXECUTE FUNCTION core.audit_refuse();
CREATE TRIGGER outbox_default_key BEFORE INSERT ON core.outbox FOR EACH ROW WHEN (((new.idempotency_key IS NULL) OR (new.channel = 'outbox_default'::text) OR (new.status = 'failed'::text) OR (new.failed_at IS NOT NULL) OR (new.group_id IS NOT NULL))) EXECUTE FUNCTION core.outbox_default_key();
CREATE TRIGGER outbox_guard AFTER UPDATE ON core.outbox FOR EACH ROW WHEN ((NOT ((((old.status = 'pending'::text) AND (new.status = 'in_flight'::text) AND (new.claim_seq = (old.claim_seq + 1))) OR ((old.status = 'in_flight'::text) AND (new.status = 'delivered'::text) AND (new.claim_seq = old.claim_seq) AND ((new.ordering_key IS NULL) OR (COALESCE(current_setting('sluice.keys'::text, true), ''::text) = 'released by batch'::text)))) AND (old.deleted_at IS NULL) AND (new.deleted_at IS NULL) AND (new.id = old.id) AND (new.seq = old.seq)))) EXECUTE FUNCTION core.outbox_guard();
CREATE TRIGGER outbox_guard_delete AFTER DELETE ON core.outbox FOR EACH ROW WHEN (((old.ordering_key IS NOT NULL) AND (old.status = ANY (ARRAY['pending'::text, 'in_flight'::text])))) EXECUTE FUNCTION core.outbox_guard_delete();
CREATE TRIGGER outbox_notify AFTER INSERT ON core.outbox FOR EACH ROW EXECUTE FUNCTION core.outbox_notify();
CREATE TRIGGER outbox_refuse_insert BEFORE INSERT ON core.outbox FOR EACH ROW WHEN (((new.status <> ALL (ARRAY['pending'::text, 'in_flight'::text, 'delivered'::text, 'failed'::text])) OR ((octet_length(new.event_type) < 1) OR (octet_length(new.event_type) > 255)) OR (new.event_type !~ '^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$'::text) OR (new.event_version < 1) OR (new.source !~ '^[a-z][a-z0-9_]*$'::text) OR (new.target !~ '^[a-z][a-z0-9_]*$'::text) OR ((octet_length(new.channel) < 1) OR (octet_length(new.channel) > 63)) OR (new.generation < 1) OR (jsonb_typeof(new.payload) <> 'object'::text) OR ((octet_length(new.idempotency_key) < 1) OR (octet_length(new.idempotency_key) > 255)) OR ((octet_length(new.ordering_key) < 1) OR (octet_length(new.ordering_key) > 255)) OR (new.trace_context !~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$'::text) OR (new.attempts < 0) OR (jsonb_typeof(new.failure_history) <> 'array'::text) OR
        CASE
            WHEN (pg_column_size((new.payload || '{}'::jsonb)) > 8000) THEN true
            ELSE (octet_length((new.payload)::text) > 8000)
        END)) EXECUTE FUNCTION core.outbox_refuse_insert();
ALTER TABLE ONLY core.operation_items
    ADD CONSTRAINT operation_items_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES core.operations(id) ON DELETE CASCADE;
