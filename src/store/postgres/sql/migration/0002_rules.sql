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

create trigger outbox_default_key
    before insert on core.outbox
    for each row when (new.idempotency_key is null or new.channel = 'outbox_default' or new.status = 'failed' or new.failed_at is not null or new.group_id is not null)
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
$$;

-- A payload as text, or null where that has more than p_most bytes. jsonb keeps 1e99999 in a few bytes and writes it with all
-- its digits, so numbers are added up one by one before the whole is written: what has too many is never written.
create function core.payload_text(p_payload jsonb, p_most bigint) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- What is wrong with the size of a payload; null when nothing is. Counted as core/json counts it, before it is sent: without
-- the space that jsonb writes after each comma and colon, which are at most half as many as the other bytes.
create function core.payload_complaint(p_payload jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create function core.outbox_refuse_insert() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_complaint text := coalesce(core.outbox_complaint(new), core.payload_complaint(new.payload));
begin
    if v_complaint is null then
        return new;
    end if;
    raise exception using errcode = '23514', message = v_complaint;
end
$$;

-- The same rules once more, inline: a good event whose payload is not large never calls a function. Three numbers are enough
-- to become too large, so every payload that is small as jsonb is written out to count its bytes: at most some hundred numbers.
-- A larger one is not, which CASE promises and OR does not. With || it is measured as it is, not as it was compressed.
create trigger outbox_refuse_insert
    before insert on core.outbox
    for each row when (
        new.status not in ('pending', 'in_flight', 'delivered', 'failed')
        or octet_length(new.event_type) not between 1 and 255
        or new.event_type !~ '^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$'
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
        or jsonb_typeof(new.failure_history) <> 'array'
        or case when pg_column_size(new.payload || '{}') > 8000 then true else octet_length(new.payload::text) > 8000 end)
    execute function core.outbox_refuse_insert();

-- Every update that is not a plain claim or a plain delivery. Refuses what the edge table does not know,
-- audits a tombstone that was set or cleared by plain SQL, keeps the dead-letter queue's columns, and
-- releases the ordering key when this event is out of the way, which makes the next one due.
create function core.outbox_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_complaint text;
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
        case
            when (old.status, new.status) = ('pending', 'in_flight') then
                if new.claim_seq <> old.claim_seq + 1 then
                    raise exception 'event %: a claim must raise claim_seq by one', old.id using errcode = 'SL409';
                end if;
            when (old.status, new.status) in (('in_flight', 'delivered'), ('in_flight', 'failed')) then
                null;
            when (old.status, new.status) = ('delivered', 'failed') and old.claimed_by like '%/relay:%' then
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
                          hint = 'legal: pending -> in_flight -> delivered | failed | pending, failed -> pending by replay, delivered -> failed after a relay';
        end case;
    end if;

    if new.deleted_at is distinct from old.deleted_at then
        if old.deleted_at is null and new.status in ('pending', 'in_flight') then
            raise exception 'event %: only a failed or delivered event can be tombstoned, this one is %', old.id, old.status
                using errcode = 'SL409';
        end if;
        -- The grace of a tombstone counts from here: whoever could write another time could make the next sweep delete it.
        if new.deleted_at not between now() and clock_timestamp() then
            raise exception 'event %: deleted_at must be now(), not %', old.id, new.deleted_at using errcode = 'SL409';
        end if;
        if new.deleted_at is null and new.restored_at is not distinct from old.restored_at then
            update core.outbox set restored_at = now() where id = new.id;
        end if;
        if not exists (select from core.audited a where a.xid = pg_current_xact_id()::text::bigint) then
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
    end if;
    return null;
end
$$;

-- The WHEN clause spares the happy path the call: measured, one short condition costs a delivery nothing
-- that can be seen, while each further trigger or CHECK is parsed anew by every statement.
-- core.outbox_acknowledge releases the keys of a whole batch itself, which takes a fifth of the time, and says so by the setting.
create trigger outbox_guard
    after update on core.outbox
    for each row when (not (
        ((old.status = 'pending' and new.status = 'in_flight' and new.claim_seq = old.claim_seq + 1)
         or (old.status = 'in_flight' and new.status = 'delivered' and new.claim_seq = old.claim_seq
             and (new.ordering_key is null or coalesce(current_setting('sluice.keys', true), '') = 'released by batch')))
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

revoke all on function core.outbox_default_key(), core.outbox_complaint(core.outbox), core.payload_text(jsonb, bigint),
    core.payload_complaint(jsonb), core.outbox_refuse_insert(),
    core.outbox_guard(), core.outbox_guard_delete(), core.audit_refuse() from public;
