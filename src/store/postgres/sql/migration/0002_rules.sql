-- The rules that hold whoever writes: the doorbell, defaults, legal values and transitions, an audit that cannot be edited.
-- Runs in milliseconds.

-- Frozen: this function never changes. Publishers choose the channel.
create function core.outbox_notify() returns trigger
language plpgsql
as $$
begin
    perform pg_notify(NEW.channel, NEW.id::text);
    return null;
end
$$;

create trigger outbox_notify
    after insert on core.outbox
    for each row execute function core.outbox_notify();

-- For inserts that leave something out: a column default cannot refer to another column.
create function core.outbox_default_key() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    new.idempotency_key := coalesce(new.idempotency_key, new.id::text);
    if new.status = 'failed' then
        new.failed_at := coalesce(new.failed_at, now());
        new.cluster_id := core.failure_cluster(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error);
    else
        new.failed_at := null;
        new.cluster_id := null;
    end if;
    return new;
end
$$;

create trigger outbox_default_key
    before insert on core.outbox
    for each row when (new.idempotency_key is null or new.status = 'failed' or new.failed_at is not null or new.cluster_id is not null)
    execute function core.outbox_default_key();

-- What is wrong with the values of an event; null when nothing is.
create function core.outbox_complaint(p_event core.outbox) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_event.status not in ('pending', 'in_flight', 'delivered', 'failed') then
            'status must be pending, in_flight, delivered or failed'
        when octet_length(p_event.event_type) not between 1 and 255 then 'event_type must have 1 to 255 bytes'
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
$$;

create function core.outbox_refuse_insert() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = '23514', message = core.outbox_complaint(new);
end
$$;

-- The same rules once more, inline: a good event never calls a function.
create trigger outbox_refuse_insert
    before insert on core.outbox
    for each row when (
        new.status not in ('pending', 'in_flight', 'delivered', 'failed')
        or octet_length(new.event_type) not between 1 and 255
        or new.event_version < 1
        or new.source !~ '^[a-z][a-z0-9_]*$'
        or new.target !~ '^[a-z][a-z0-9_]*$'
        or octet_length(new.channel) not between 1 and 63
        or new.generation < 1
        or jsonb_typeof(new.payload) <> 'object'
        or octet_length(new.idempotency_key) not between 1 and 255
        or octet_length(new.ordering_key) not between 1 and 255
        or new.trace_context !~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$'
        or new.attempts < 0
        or jsonb_typeof(new.failure_history) <> 'array')
    execute function core.outbox_refuse_insert();

-- Every update that is not a plain claim or a plain delivery. Refuses what the edge table does not know,
-- audits a tombstone that was set or cleared by plain SQL, keeps the dead-letter queue's columns, and
-- releases the ordering key when this event is out of the way, which makes the next one due.
create function core.outbox_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.id <> old.id or new.seq <> old.seq or new.idempotency_key <> old.idempotency_key or new.claim_seq < old.claim_seq then
        raise exception 'event %: id, seq and idempotency_key never change, and claim_seq never falls', old.id using errcode = 'SL409';
    end if;
    -- Most updates change none of these, and asking costs more than comparing.
    if (new.status, new.event_type, new.event_version, new.source, new.target, new.channel, new.generation, new.ordering_key, new.attempts)
           is distinct from
       (old.status, old.event_type, old.event_version, old.source, old.target, old.channel, old.generation, old.ordering_key, old.attempts)
       or new.payload is distinct from old.payload or new.failure_history is distinct from old.failure_history
       or new.trace_context is distinct from old.trace_context then
        if core.outbox_complaint(new) is not null then
            raise exception using errcode = '23514', message = core.outbox_complaint(new);
        end if;
    end if;

    if new.status is distinct from old.status then
        case
            when (old.status, new.status) = ('pending', 'in_flight') then
                if new.claim_seq <> old.claim_seq + 1 then
                    raise exception 'event %: a claim must raise claim_seq by one', old.id using errcode = 'SL409';
                end if;
            when (old.status, new.status) in (('in_flight', 'delivered'), ('in_flight', 'failed'), ('delivered', 'failed')) then
                null;
            when (old.status, new.status) in (('in_flight', 'pending'), ('failed', 'pending')) then
                if new.retry_after is null then
                    raise exception 'event %: what becomes pending again needs a retry_after', old.id using errcode = 'SL409';
                elsif old.status = 'failed' and (old.deleted_at is not null or new.failure_history = old.failure_history) then
                    raise exception 'event %: a failed event returns to pending only by core.outbox_replay', old.id
                        using errcode = 'SL409';
                end if;
            else
                raise exception 'event %: illegal transition % -> %', old.id, old.status, new.status
                    using errcode = 'SL409',
                          hint = 'legal: pending -> in_flight -> delivered | failed | pending, failed -> pending by replay';
        end case;
    end if;

    if new.deleted_at is distinct from old.deleted_at then
        if old.deleted_at is null and new.status in ('pending', 'in_flight') then
            raise exception 'event %: only a failed or delivered event can be tombstoned, this one is %', old.id, old.status
                using errcode = 'SL409';
        end if;
        if current_setting('sluice.audited', true) is distinct from 'on' then
            insert into core.audit (actor, surface, action, event_id, reason)
            values ('sql-direct', 'sql', case when new.deleted_at is null then 'restore' else 'discard' end, new.id,
                    'by an UPDATE of deleted_at');
        end if;
    end if;

    -- Failed, or no longer failed, by plain SQL: the dead-letter queue has to know it.
    if new.status = 'failed' and (new.failed_at is null or new.cluster_id is null) then
        update core.outbox
        set failed_at = coalesce(new.failed_at, now()),
            cluster_id = core.failure_cluster(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error)
        where id = new.id;
    elsif new.status <> 'failed' and (new.failed_at is not null or new.cluster_id is not null) then
        update core.outbox set failed_at = null, cluster_id = null where id = new.id;
    end if;

    if new.ordering_key is not null and old.status = 'in_flight' and new.status <> 'in_flight' then
        delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
        perform core.outbox_unblock(old.ordering_key, case when new.status = 'pending' then old.seq end);
    end if;
    return null;
end
$$;

-- The WHEN clause spares the happy path the call: measured, one short condition costs a delivery nothing
-- that can be seen, while each further trigger or CHECK is parsed anew by every statement.
create trigger outbox_guard
    after update on core.outbox
    for each row when (not (
        ((old.status = 'pending' and new.status = 'in_flight' and new.claim_seq = old.claim_seq + 1)
         or (old.status = 'in_flight' and new.status = 'delivered' and new.claim_seq = old.claim_seq and new.ordering_key is null))
        and old.deleted_at is null and new.deleted_at is null and new.id = old.id and new.seq = old.seq))
    execute function core.outbox_guard();

create function core.outbox_guard_delete() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
    perform core.outbox_unblock(old.ordering_key, null);
    return null;
end
$$;

create trigger outbox_guard_delete
    after delete on core.outbox
    for each row when (old.ordering_key is not null and old.status in ('pending', 'in_flight'))
    execute function core.outbox_guard_delete();

create function core.audit_refuse() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'core.audit is append-only' using errcode = 'SL403';
end
$$;

create trigger audit_refuse
    before update or delete or truncate on core.audit
    for each statement execute function core.audit_refuse();

revoke all on function core.outbox_default_key(), core.outbox_complaint(core.outbox), core.outbox_refuse_insert(),
    core.outbox_guard(), core.outbox_guard_delete(), core.audit_refuse() from public;
