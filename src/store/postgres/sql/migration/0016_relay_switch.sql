-- The switch of the relay waits for the claims that are running, and a bulk replay waits for the consumers behind a broker.
-- Functions only: runs in milliseconds.

-- As before, and alone: a claim asks core.settings first of all and keeps that lock until it has committed, so with this one no
-- claim is running that has seen the old state. Otherwise a listener could take an event of a key whose predecessor a relay has
-- published since, and handle it first. Tried for a tenth of a second at a time: claims and settles wait behind it.
create or replace function core.relay_switch(p_state text, p_broker text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
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

-- As before, but what a relay has delivered is delivered to the broker only: it is counted when every handler that subscribes to
-- it has a dedup row. Consumers write one for each event of a replay.
create or replace function core.operation_hold(p_id uuid, p_executor text, p_lease interval) returns core.operations
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
