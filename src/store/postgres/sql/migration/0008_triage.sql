-- Dead letters: groups that share a failure, filters, replay, discard, restore. Each change leaves an audit row.
-- Functions only: runs in milliseconds.

-- The id of a group of failures; the first failure of a group makes its row, and the first of a day renews it. One
-- transaction at a time may write rows, so that two that write several never wait for each other in a circle.
create function core.failure_group(
    p_event_type text, p_source text, p_target text, p_class text, p_fingerprint text, p_error text
) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
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

-- Marks every group with this fingerprint as known, or not any more; returns how many there are.
create function core.failure_acknowledge(p_fingerprint text, p_known boolean, p_actor text, p_surface text, p_reason text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- The part of a filter that a group answers.
create function core.group_matches(p_group core.failure_groups, p_filter jsonb) returns boolean
language sql stable parallel safe
as $$
    select (p_filter ->> 'event_type' is null or p_group.event_type = p_filter ->> 'event_type')
       and (p_filter ->> 'type_prefix' is null or starts_with(p_group.event_type, p_filter ->> 'type_prefix'))
       and (p_filter ->> 'source' is null or p_group.source = p_filter ->> 'source')
       and (p_filter ->> 'target' is null or p_group.target = p_filter ->> 'target')
       -- `timeout` finds TimeoutError.
       and (p_filter ->> 'error_class' is null
            or lower(p_group.failure_class) in (lower(p_filter ->> 'error_class'), lower(p_filter ->> 'error_class') || 'error'))
       and (p_filter ->> 'fingerprint' is null or p_group.fingerprint = p_filter ->> 'fingerprint')
$$;

-- The rest of it, for a dead letter. `except` names events that are not meant: "all of these, except those three".
create function core.dead_matches(p_event core.outbox, p_filter jsonb) returns boolean
language sql stable parallel safe
as $$
    select (p_filter ->> 'id' is null or p_event.id = (p_filter ->> 'id')::uuid)
       and (p_filter ->> 'generation' is null or p_event.generation = (p_filter ->> 'generation')::bigint)
       and (p_filter ->> 'workspace_id' is null or p_event.workspace_id = (p_filter ->> 'workspace_id')::uuid)
       and (p_filter ->> 'ordering_key' is null or p_event.ordering_key = p_filter ->> 'ordering_key')
       and (p_filter ->> 'text' is null or strpos(lower(p_event.last_error), lower(p_filter ->> 'text')) > 0)
       and (p_filter ->> 'since' is null or p_event.failed_at >= (p_filter ->> 'since')::timestamptz)
       and (p_filter ->> 'until' is null or p_event.failed_at < (p_filter ->> 'until')::timestamptz)
       and (p_filter -> 'except' is null or not (p_filter -> 'except') ? p_event.id::text)
$$;

-- Adds what an event went through before this replay to its history. Bounded: the first entry and the latest ones stay.
create function core.failure_history_after(
    p_event core.outbox, p_new_generation bigint, p_actor text, p_reason text, p_operation uuid, p_most int
) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
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

-- failed -> pending for events that the caller has locked and looked at.
create function core.outbox_reset(p_ids uuid[], p_new_generation bigint, p_actor text, p_reason text, p_operation uuid)
returns table (id uuid, cycle int, attempts int, from_generation bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_most int := greatest(coalesce((select s.value::int from core.settings s where s.key = 'failure_history_max'), 50), 2);
begin
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
            channel = case when o.channel = 'outbox_gen_' || o.generation or o.channel like 'outbox\_gen\_' || o.generation || '\_%'
                           then 'outbox_gen_' || p_new_generation || substr(o.channel, length('outbox_gen_' || o.generation) + 1)
                           else o.channel end
        where o.id = any (p_ids)
        returning o.id)
    select old.id, old.cycle, old.attempts, old.generation from old join moved on moved.id = old.id;
    -- Without the id: only an INSERT names its event, and who inserted it takes that for the echo of its own publish.
    perform pg_notify(c.channel, '')
    from (select distinct o.channel from core.outbox o where o.id = any (p_ids)) c;
end
$$;

-- Writes what failed into the event's history and makes it pending again, in place. Returns what it did.
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
    insert into core.audited values (pg_current_xact_id()::text::bigint);
    update core.outbox set deleted_at = case when p_discard then now() end, restored_at = case when p_discard then restored_at else now() end
    where id = p_event_id;
    delete from core.audited where xid = pg_current_xact_id()::text::bigint;
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

revoke all on function core.failure_group(text, text, text, text, text, text),
    core.failure_acknowledge(text, boolean, text, text, text), core.group_matches(core.failure_groups, jsonb),
    core.dead_matches(core.outbox, jsonb), core.failure_history_after(core.outbox, bigint, text, text, uuid, int),
    core.outbox_reset(uuid[], bigint, text, text, uuid), core.outbox_replay_as(uuid, bigint, text, text, text),
    core.outbox_replay(uuid, bigint, text), core.outbox_tombstone(uuid, boolean, text, text, text),
    core.outbox_discard(uuid, text, text), core.outbox_restore(uuid, text, text) from public;
