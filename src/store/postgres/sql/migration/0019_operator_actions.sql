-- What an operator may do to a pending event: let it run now or later, cancel it and take that back; and the edge by which
-- a delivered one is sent again. Functions only: runs in milliseconds.

-- Refuses a change of status that the edge table of src/core/status.hpp does not know, or that lacks what its edge needs.
create function core.outbox_check_edge(
    p_id uuid, p_old text, p_new text, p_claims bigint, p_due boolean, p_deleted boolean, p_recorded boolean, p_relayed boolean) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
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

-- Refuses a tombstone of what is on its way, or of another time than now, and one that is cleared without a due time.
create function core.outbox_check_tombstone(p_id uuid, p_status text, p_deleted_at timestamptz, p_due boolean, p_audited boolean) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
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

-- Every update that is not a plain claim or a plain delivery. Refuses what the edge table does not know,
-- audits a tombstone that was set or cleared by plain SQL, keeps the dead-letter queue's columns, and
-- releases the ordering key when this event is out of the way, which makes the next one due.
create or replace function core.outbox_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- Locks the event for an operator's change: whoever waits here sees afterwards what a worker made of it.
create function core.outbox_lock(p_event_id uuid, p_reason text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_reason, '') = '' then
        raise exception 'reason: say why' using errcode = 'SL422';
    end if;
    perform from core.outbox where id = p_event_id for update;
    if not found then
        raise exception 'event % does not exist', coalesce(p_event_id::text, 'null') using errcode = 'SL404';
    end if;
end
$$;

-- Refuses unless the event waits: p_verb says for what.
create function core.outbox_must_wait(p_event_id uuid, p_status text, p_deleted boolean, p_claimed_by text, p_verb text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
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

-- A pending event is due at p_due, or at once when that is null, with each handler that still waits. Index outbox_pkey.
create function core.outbox_schedule(p_event_id uuid, p_due timestamptz, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- Tombstones a pending event: no worker takes it any more, and what waits for its ordering key goes on. Its due time goes into
-- the audit, and comes back with core.outbox_restore: left on the row it would stay at the head of outbox_waiting.
create function core.outbox_cancel(p_event_id uuid, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- Tombstones (p_discard) a failed event; restores one that was discarded, or a pending one that was cancelled: due when it
-- was, and at once when that has passed.
create or replace function core.outbox_tombstone(p_event_id uuid, p_discard boolean, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event core.outbox;
    v_due   timestamptz;
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
    end if;
    insert into core.audited values (pg_current_xact_id()::text::bigint);
    update core.outbox
    set deleted_at = case when p_discard then now() end, restored_at = case when p_discard then restored_at else now() end,
        retry_after = coalesce(v_due, retry_after)
    where id = p_event_id;
    delete from core.audited where xid = pg_current_xact_id()::text::bigint;
    insert into core.audit (actor, surface, action, event_id, reason)
    values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, case when p_discard then 'discard' else 'restore' end, p_event_id,
            p_reason);
    if v_event.status = 'pending' then
        perform pg_notify(v_event.channel, '');
    end if;
end
$$;

-- One bounded batch of retention, audited where it took something. An event is as old as the latest of: when it was
-- published, delivered, failed, restored. Its business time, which the publisher chooses, has no part in it. A dedup row
-- stays while its event is there, so it outlives every replay.
create or replace function core.outbox_sweep(
    p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval, p_limit int, p_dry_run boolean,
    p_actor text default null, p_surface text default 'sql', p_reason text default null
) returns table (tombstoned bigint, deleted bigint, failed bigint, handled bigint, more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- What holds a partition: null when all that is in it has been kept for long enough. The first answers come from indexes, so that
-- the last, which reads the whole partition (p_whole), is asked about few. Dead letters hold their month until the sweep, which
-- takes them one by one, has taken the last.
create or replace function core.partition_held(p_leaf oid, p_active interval, p_grace interval, p_whole boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

revoke all on function core.outbox_check_edge(uuid, text, text, bigint, boolean, boolean, boolean, boolean),
    core.outbox_check_tombstone(uuid, text, timestamptz, boolean, boolean), core.outbox_lock(uuid, text), core.outbox_must_wait(uuid, text, boolean, text, text),
    core.outbox_schedule(uuid, timestamptz, text, text, text), core.outbox_cancel(uuid, text, text, text) from public;
