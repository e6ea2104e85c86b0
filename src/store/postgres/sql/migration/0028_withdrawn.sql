-- Who withdraws or narrows a subscription is waited for by nobody any more, whatever happens at the same time; and an event whose
-- first subscriber comes late holds up what is published to its ordering key from then on. Adds a column without a default and
-- replaces functions: runs in milliseconds, and waits for settles that are under way.

-- The lowest number that the floor of the ordering keys (the row with the empty name) has passed because nobody subscribed to the
-- event: whoever subscribes takes the floor back to there.
alter table core.claim_cursors add column passed bigint;

-- Who decides for whom an event waits holds this until its transaction is over. Before any row, so that nobody waits in a circle.
create function core.subscriptions_hold() returns void
language sql volatile
as $$ select pg_advisory_xact_lock_shared(hashtextextended('sluice.subscriptions', 0)) $$;

-- Waits until nobody does. An event that is being settled is still in flight to everybody else: who withdraws its handler could not
-- see that it will wait for it. Tried for a tenth of a second at a time, because settles wait behind it.
create function core.subscriptions_freeze() returns void
language plpgsql volatile
as $$
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

-- What waits for a handler that does not want it any more waits for the others only, if there are others, and is for any worker.
-- What is parked behind an event of its key is due: whoever still has to wait is parked again by the next claim. Index
-- outbox_waiting.
create function core.outbox_free(p_generation bigint, p_handler text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
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

-- As in 0004, but what waited for a handler that wants less now is freed, and the floor of the keys goes back to what it has passed
-- for want of a subscriber.
create or replace function core.subscribe(p_generation bigint, p_handlers text[], p_event_types jsonb, p_contexts text[], p_channels text[],
                               p_declared_by text default '')
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- As in 0004, but it waits for settles that are under way.
create or replace function core.unsubscribe(p_generation bigint, p_handler text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- As in 0007, but who withdraws a subscription meanwhile waits for it.
create or replace function core.outbox_settle(
    p_tids           tid[],
    p_from           timestamptz,
    p_to             timestamptz,
    p_ids            uuid[],
    p_claim_seqs     bigint[],
    p_batches        bigint[],
    p_done_batches   bigint[],
    p_undelivered    uuid[],
    p_undelivered_claim_seqs bigint[],
    p_next           text[],
    p_counted        boolean[],
    p_recorded       boolean[],
    p_delays         interval[],
    p_not_before     timestamptz[],
    p_last_errors    text[],
    p_failure_classes  text[],
    p_fingerprints   text[],
    p_progress       jsonb[],
    p_lanes          text[],
    p_handlers       text[],
    p_handled_keys   text[],
    p_handled_events uuid[],
    p_based_on       bigint,
    p_durable        boolean
) returns table (fenced uuid, forgotten bigint, next_generation bigint, next_seq bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set enable_indexscan = on
set enable_tidscan = on
set jit = off
as $$
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

-- As in 0019, for what is sent again or restored.
create or replace function core.outbox_lock(p_event_id uuid, p_reason text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
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

-- As in 0024, but it waits for handlers only that still want it.
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

-- As in 0005, but it is written down where the floor has passed an event that nobody subscribes to.
create or replace function core.key_floor_advance(p_last bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
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

revoke all on function core.subscriptions_hold(), core.subscriptions_freeze(), core.outbox_free(bigint, text) from public;
