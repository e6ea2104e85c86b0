-- Deployment generations: allocated, live, draining, retired. Nobody publishes into a retired generation (0003), and none is
-- retired while a transaction that is older than its drain may still commit events into it. Functions only: runs in
-- milliseconds.

-- Takes the wanted generation, or the next free one.
create function core.generation_allocate(p_wanted bigint, p_note text, p_actor text, p_surface text, p_reason text)
returns core.deployments
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- allocated -> live -> draining -> retired, and draining -> live for a rollback. Refuses to retire a generation into which
-- an open transaction may still publish, and notes the time of a drain as late as it can: whoever began before it has to
-- end first.
create function core.generation_move(p_generation bigint, p_state text, p_actor text, p_surface text, p_reason text)
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

-- Moves up to p_limit pending events to another generation: what is left of one that has no workers any
-- more. Each call leaves an audit row with its count.
create function core.outbox_reroute(p_from bigint, p_to bigint, p_limit int, p_actor text, p_surface text, p_reason text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_moved bigint;
begin
    if p_from = p_to or p_to < 1 then
        raise exception 'to: expected another generation than %, got %', p_from, p_to using errcode = 'SL422';
    end if;
    update core.outbox o
    set generation = p_to, retry_after = coalesce(o.retry_after, now()), progress = null, lane = '',
        channel = case when o.channel = 'outbox_gen_' || p_from or o.channel like 'outbox\_gen\_' || p_from || '\_%'
                       then 'outbox_gen_' || p_to || substr(o.channel, length('outbox_gen_' || p_from) + 1)
                       else o.channel end
    where o.id = any (array(
        select c.id from core.outbox c
        where c.generation = p_from and c.status = 'pending' and c.deleted_at is null
        order by c.seq limit p_limit for update skip locked));
    get diagnostics v_moved = row_count;
    if v_moved > 0 then
        perform pg_notify('outbox_gen_' || p_to, '');
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (p_actor, p_surface, 'reroute', v_moved, coalesce(p_reason, ''),
                jsonb_build_object('from_generation', p_from, 'to_generation', p_to));
    end if;
    return v_moved;
end
$$;

revoke all on function core.generation_allocate(bigint, text, text, text, text), core.generation_publishers(bigint),
    core.generation_move(bigint, text, text, text, text),
    core.outbox_reroute(bigint, bigint, int, text, text, text) from public;
