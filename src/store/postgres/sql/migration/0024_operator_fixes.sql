-- Events that an operator restores, sends again or cancels come to their end. Functions only: runs in milliseconds.

create or replace function core.generation_not_retired(p_generation bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (select from core.deployments d where d.generation = p_generation and d.state = 'retired') then
        raise exception 'generation % is retired, and nobody would claim its events: name a live one, or make one live', p_generation
            using errcode = 'SL409';
    end if;
end
$$;

-- A channel that was composed from a generation follows its events to another one.
create or replace function core.channel_in(p_channel text, p_from bigint, p_to bigint) returns text
language sql immutable
as $$
    select case when p_channel = 'outbox_gen_' || p_from or p_channel like 'outbox\_gen\_' || p_from || '\_%'
                then 'outbox_gen_' || p_to || substr(p_channel, length('outbox_gen_' || p_from) + 1)
                else p_channel end
$$;

-- As in 0008: failed or delivered -> pending for events that the caller has locked and looked at. Refuses a generation that is
-- retired: the events would wait there for ever, and what follows in their ordering keys would wait for them in every other one.
create or replace function core.outbox_reset(p_ids uuid[], p_new_generation bigint, p_actor text, p_reason text, p_operation uuid)
returns table (id uuid, cycle int, attempts int, from_generation bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
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

-- As in 0019. What becomes pending again waits only for handlers that still subscribe in its generation, and is for any worker:
-- somebody may have withdrawn while it was cancelled, and would be waited for, and hold up its ordering key, for ever. Of a
-- generation that was retired meanwhile it goes to the newest live one.
create or replace function core.outbox_tombstone(p_event_id uuid, p_discard boolean, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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
            where exists (select from core.subscriptions s
                          where s.generation = v_event.generation and s.handler_name = e.w ->> 'handler'));
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

-- As in 0016, but what was cancelled comes to no end and is passed over, what was delivered counts as such though it was sent again
-- since, and a replay into a generation that is retired now stops.
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

-- As in 0020, but what is sent again is as young as what is restored: the check under the lock with which a month is dropped asks for
-- that, and else sees nothing of an event that was delivered long ago.
create or replace function core.outbox_send_to(
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

-- As in 0017, but all rows are locked at once, in the order of their ids: those that were not handled first, and then all of them, let
-- two reports wait for each other in a circle. The dedup rows come before, as in core.relay_report.
create or replace function core.relay_report_recorded(
    p_ids uuid[], p_replays bigint[], p_handlers text[], p_keys text[], p_handled boolean[], p_failed boolean[], p_attempts bigint[],
    p_errors text[], p_classes text[], p_fingerprints text[], p_progress jsonb[], p_log jsonb[]
) returns setof text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

revoke all on function core.generation_not_retired(bigint), core.channel_in(text, bigint, bigint) from public;
