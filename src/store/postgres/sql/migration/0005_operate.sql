-- What operators do: replay, discard, restore, generations, retention. Each leaves an audit row.

-- Closes the failed cycle of an event and makes it pending again, in place. Returns what it did.
create function core.outbox_replay_as(
    p_event_id       uuid,
    p_new_generation bigint,
    p_replayed_by    text,
    p_surface        text,
    p_reason         text
) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event   core.outbox;
    v_actor   text := coalesce(nullif(p_replayed_by, ''), 'sql-direct');
    v_cycle   int;
    v_max     int;
    v_history jsonb;
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

    v_cycle := coalesce((v_event.failure_history -> -1 ->> 'cycle')::int, 0) + 1;
    v_history := v_event.failure_history || jsonb_build_object(
        'cycle', v_cycle,
        'attempts', v_event.attempts,
        'last_error', v_event.last_error,
        'first_failed_at', v_event.first_failed_at,
        'failed_at', v_event.claimed_at,
        'replayed_at', now(),
        'replayed_by', v_actor,
        'error_class', v_event.failure_class,
        'fingerprint', v_event.fingerprint,
        'from_generation', v_event.generation,
        'to_generation', p_new_generation,
        'reason', nullif(p_reason, ''));
    -- Bounded: the first entry and the latest ones stay, the oldest in between go.
    v_max := greatest(coalesce((select value::int from core.settings where key = 'failure_history_max'), 50), 2);
    while jsonb_array_length(v_history) > v_max loop
        v_history := v_history - 1;
    end loop;

    update core.outbox
    set status = 'pending', generation = p_new_generation, attempts = 0, last_error = null, failure_class = null, fingerprint = null,
        first_failed_at = null, failure_history = v_history, claimed_at = null, claimed_by = null, retry_after = now(),
        delivered_at = null,
        channel = case when channel = 'outbox_gen_' || v_event.generation or channel like 'outbox\_gen\_' || v_event.generation || '\_%'
                       then 'outbox_gen_' || p_new_generation || substr(channel, length('outbox_gen_' || v_event.generation) + 1)
                       else channel end
    where id = p_event_id;

    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (v_actor, p_surface, 'replay', p_event_id, coalesce(p_reason, ''),
            jsonb_build_object('cycle', v_cycle, 'from_generation', v_event.generation, 'to_generation', p_new_generation));

    return jsonb_build_object('event_id', p_event_id, 'status', 'pending', 'cycle', v_cycle, 'attempts', v_event.attempts,
                              'from_generation', v_event.generation, 'to_generation', p_new_generation, 'replayed_by', v_actor);
end
$$;

create function core.outbox_replay(p_event_id uuid, p_new_generation bigint, p_replayed_by text) returns jsonb
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    select core.outbox_replay_as(p_event_id, p_new_generation, p_replayed_by, 'sql', null)
$$;

-- Tombstones (p_discard) or restores a failed event.
create function core.outbox_tombstone(p_event_id uuid, p_discard boolean, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event core.outbox;
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    end if;
    select * into v_event from core.outbox where id = p_event_id for update;
    if not found then
        raise exception 'event % does not exist', coalesce(p_event_id::text, 'null') using errcode = 'SL404';
    elsif v_event.status <> 'failed' then
        raise exception 'event % is %, only a failed event can be discarded or restored', p_event_id, v_event.status
            using errcode = 'SL409';
    elsif p_discard and v_event.deleted_at is not null then
        raise exception 'event % is already discarded', p_event_id using errcode = 'SL409';
    elsif not p_discard and v_event.deleted_at is null then
        raise exception 'event % is not discarded', p_event_id using errcode = 'SL409';
    end if;
    perform set_config('sluice.audited', 'on', true);
    update core.outbox set deleted_at = case when p_discard then now() end where id = p_event_id;
    perform set_config('sluice.audited', 'off', true);
    insert into core.audit (actor, surface, action, event_id, reason)
    values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, case when p_discard then 'discard' else 'restore' end, p_event_id,
            p_reason);
end
$$;

create function core.outbox_discard(p_event_id uuid, p_reason text, p_actor text default null) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select core.outbox_tombstone(p_event_id, true, p_actor, 'sql', p_reason) $$;

create function core.outbox_restore(p_event_id uuid, p_reason text, p_actor text default null) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select core.outbox_tombstone(p_event_id, false, p_actor, 'sql', p_reason) $$;

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

-- allocated -> live -> draining -> retired, and draining -> live for a rollback.
create function core.generation_move(p_generation bigint, p_state text, p_actor text, p_surface text, p_reason text)
returns core.deployments
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old core.deployments;
    v_row core.deployments;
begin
    select * into v_old from core.deployments where generation = p_generation for update;
    if not found then
        raise exception 'generation % is not allocated', p_generation using errcode = 'SL404';
    elsif (v_old.state, p_state) not in
        (('allocated', 'live'), ('live', 'draining'), ('draining', 'live'), ('draining', 'retired')) then
        raise exception 'generation % is % and cannot become %', p_generation, v_old.state, p_state using errcode = 'SL409';
    end if;
    update core.deployments
    set state = p_state, changed_by = p_actor,
        activated_at = case when p_state = 'live' then now() else activated_at end,
        draining_at = case when p_state = 'draining' then now() when p_state = 'live' then null else draining_at end,
        retired_at = case when p_state = 'retired' then now() else retired_at end
    where generation = p_generation
    returning * into v_row;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'generation.' || case p_state when 'live' then 'activate' when 'draining' then 'drain' else 'retire' end,
            coalesce(p_reason, ''), jsonb_build_object('generation', p_generation, 'from', v_old.state, 'to', p_state));
    return v_row;
end
$$;

-- One bounded batch of retention. Events are aged by occurred_at, so that a dedup row, kept longer than
-- active + grace, outlives every replay of its event.
create function core.outbox_sweep(
    p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval, p_limit int, p_dry_run boolean
) returns table (tombstoned bigint, deleted bigint, failed bigint, handled bigint, more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids    uuid[];
    v_failed bigint;
begin
    perform set_config('sluice.audited', 'on', true);

    -- Index outbox_tombstones.
    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.status = 'failed') into v_ids, failed
    from (select o.id, o.status from core.outbox o
          where o.deleted_at <= now() - p_grace and o.status in ('delivered', 'failed')
          order by o.deleted_at limit p_limit for update skip locked) t;
    deleted := cardinality(v_ids);
    if not p_dry_run then
        delete from core.outbox o where o.id = any (v_ids);
    end if;

    -- Index outbox_age. Old events that are not finished stay at its head; they are few.
    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.status = 'failed') into v_ids, v_failed
    from (select o.id, o.status from core.outbox o
          where o.deleted_at is null and o.occurred_at <= now() - p_active and o.status in ('delivered', 'failed')
          order by o.occurred_at limit p_limit for update skip locked) t;
    tombstoned := cardinality(v_ids);
    failed := failed + v_failed;
    if not p_dry_run then
        update core.outbox o set deleted_at = now() where o.id = any (v_ids);
    end if;

    -- Index event_handled_age.
    if p_dry_run then
        select count(*) into handled from (
            select from core.event_handled h where h.handled_at <= now() - p_handled_active - p_handled_grace limit p_limit) c;
    else
        delete from core.event_handled h
        where h.ctid = any (array(
            select e.ctid from core.event_handled e where e.handled_at <= now() - p_handled_active - p_handled_grace
            limit p_limit for update skip locked));
        get diagnostics handled = row_count;
    end if;
    more := greatest(deleted, tombstoned, handled) >= p_limit;
    perform set_config('sluice.audited', 'off', true);
    return next;
end
$$;

revoke all on function core.outbox_replay_as(uuid, bigint, text, text, text), core.outbox_replay(uuid, bigint, text),
    core.outbox_tombstone(uuid, boolean, text, text, text), core.outbox_discard(uuid, text, text),
    core.outbox_restore(uuid, text, text), core.generation_allocate(bigint, text, text, text, text),
    core.generation_move(bigint, text, text, text, text),
    core.outbox_sweep(interval, interval, interval, interval, int, boolean) from public;
