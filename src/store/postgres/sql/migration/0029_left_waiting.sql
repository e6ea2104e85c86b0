-- The patrol finds what waits for nobody, too: whatever let an event wait only for handlers that do not want it costs minutes, and is
-- loud. And what is parked behind events that are rerouted does not stay so. Functions only: runs in milliseconds.

-- As in 0010, but what waits behind the events that are moved is looked at again.
create or replace function core.outbox_reroute(p_from bigint, p_to bigint, p_limit int, p_actor text, p_surface text, p_reason text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- Whether an event that is due is looked for by no claim: all that it waits for do not want it, though somebody does; or its time is
-- before all times.
create function core.outbox_waits_for_nobody(p_event core.outbox) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
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

-- As in 0012, but what waits for nobody is passed over, too.
create or replace function core.patrol_step(p_holder text, p_lease interval, p_overlooked interval, p_settled_again interval, p_rows int)
returns table (held boolean, round_over boolean, rows bigint, id uuid, cause text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
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

-- As in 0012, for what waits for nobody.
create or replace function core.patrol_heal(p_found jsonb) returns table (id uuid, cause text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
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

revoke all on function core.outbox_waits_for_nobody(core.outbox) from public;
