-- The rules that hold whoever writes: the doorbell, defaults, legal transitions, an audit that cannot
-- be edited. Takes a brief exclusive lock on core.outbox to add triggers.

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

-- A column default cannot refer to another column. Called only when the key is missing.
create function core.outbox_default_key() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    new.idempotency_key := new.id::text;
    return new;
end
$$;

create trigger outbox_default_key
    before insert on core.outbox
    for each row when (new.idempotency_key is null)
    execute function core.outbox_default_key();

-- What is wrong with the values of an event; null when nothing is.
create function core.outbox_complaint(p_event core.outbox) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select case
        when octet_length(p_event.event_type) not between 1 and 255 then 'event_type must have 1 to 255 bytes'
        when p_event.event_version < 1 then 'event_version must be at least 1'
        when p_event.source !~ '^[a-z][a-z0-9_]*$' then 'source must be a context name: [a-z][a-z0-9_]*'
        when p_event.target !~ '^[a-z][a-z0-9_]*$' then 'target must be a context name, [a-z][a-z0-9_]*, or null for a broadcast'
        when octet_length(p_event.channel) not between 1 and 63 then 'channel must have 1 to 63 bytes'
        when p_event.generation < 1 then 'generation must be at least 1'
        when jsonb_typeof(p_event.payload) <> 'object' then 'payload must be a JSON object'
        when octet_length(p_event.idempotency_key) not between 1 and 255 then 'idempotency_key must have 1 to 255 bytes'
        when octet_length(p_event.ordering_key) not between 1 and 255 then 'ordering_key must have 1 to 255 bytes'
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
        octet_length(new.event_type) not between 1 and 255
        or new.event_version < 1
        or new.source !~ '^[a-z][a-z0-9_]*$'
        or new.target !~ '^[a-z][a-z0-9_]*$'
        or octet_length(new.channel) not between 1 and 63
        or new.generation < 1
        or jsonb_typeof(new.payload) <> 'object'
        or octet_length(new.idempotency_key) not between 1 and 255
        or octet_length(new.ordering_key) not between 1 and 255
        or new.attempts < 0
        or jsonb_typeof(new.failure_history) <> 'array')
    execute function core.outbox_refuse_insert();

-- What stands in the way of an event with an ordering key: 'in_flight' or 'pending', null when nothing
-- does. Each event waits for the one before it, so the nearest earlier one is enough; only a replay puts
-- an event back among later ones, and the index outbox_replayed_keys holds those. At most one event of a
-- key is in flight.
create function core.outbox_key_blocker(p_key text, p_seq bigint, p_replayed boolean) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select b.status from (
        select (select p.status from core.outbox p
                where p.ordering_key = p_key and p.seq < p_seq
                order by p.seq desc limit 1) as status
        union all
        select p.status from core.outbox p
        where p.ordering_key = p_key and p.failure_history <> '[]' and p.seq <> p_seq
          and (p.status = 'in_flight' or (p.status = 'pending' and p.seq < p_seq))
        union all
        select p.status from core.outbox p
        where p_replayed and p.ordering_key = p_key and p.seq > p_seq and p.status = 'in_flight'
    ) b
    where b.status in ('pending', 'in_flight')
    order by b.status
    limit 1
$$;

-- Every update that is not a plain claim or a plain delivery. Refuses what the edge table does not know,
-- audits a tombstone that was set or cleared by plain SQL, and makes the next event of an ordering key
-- due when this one is out of the way: the nearest later one, which the scan may have passed over
-- (retry_after null) or which was parked (blocked_since set), and a replayed one that was parked.
create function core.outbox_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.id <> old.id or new.seq <> old.seq or new.idempotency_key <> old.idempotency_key or new.claim_seq < old.claim_seq then
        raise exception 'event %: id, seq and idempotency_key never change, and claim_seq never falls', old.id using errcode = 'SL409';
    elsif core.outbox_complaint(new) is not null then
        raise exception using errcode = '23514', message = core.outbox_complaint(new);
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

    if new.ordering_key is not null and new.status in ('delivered', 'failed') and new.status <> old.status then
        perform core.outbox_unblock_key(old.ordering_key, old.seq);
    end if;
    return null;
end
$$;

create function core.outbox_unblock_key(p_key text, p_seq bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    update core.outbox
    set retry_after = now(), blocked_since = null
    where id = (
        select id from core.outbox
        where ordering_key = p_key and seq > p_seq and status = 'pending'
        order by seq limit 1)
      and status = 'pending' and (retry_after is null or blocked_since is not null);
    update core.outbox
    set retry_after = now(), blocked_since = null
    where ordering_key = p_key and failure_history <> '[]' and status = 'pending' and blocked_since is not null;
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
    perform core.outbox_unblock_key(old.ordering_key, old.seq);
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

revoke all on function core.outbox_default_key(), core.outbox_complaint(core.outbox), core.outbox_refuse_insert(), core.outbox_key_blocker(text, bigint, boolean),
    core.outbox_guard(), core.outbox_unblock_key(text, bigint), core.outbox_guard_delete(), core.audit_refuse() from public;
