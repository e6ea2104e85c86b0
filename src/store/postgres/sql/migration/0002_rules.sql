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

-- Only raises. The WHEN clause is the illegal set, so a legal update never calls a function; an AFTER
-- trigger does not lock the tuple a second time as a BEFORE trigger would.
create function core.outbox_refuse() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if old.status is distinct from new.status then
        if old.status = 'pending' and new.status = 'in_flight' then
            raise exception 'event %: a claim must raise claim_seq by one', old.id using errcode = 'SL409';
        elsif new.status = 'pending' and old.status in ('in_flight', 'failed') and new.retry_after is null then
            raise exception 'event %: what becomes pending again needs a retry_after', old.id using errcode = 'SL409';
        elsif old.status = 'failed' and new.status = 'pending' then
            raise exception 'event %: a failed event returns to pending only by core.outbox_replay', old.id
                using errcode = 'SL409';
        end if;
        raise exception 'event %: illegal transition % -> %', old.id, old.status, new.status
            using errcode = 'SL409', hint = 'legal: pending -> in_flight -> delivered | failed | pending, failed -> pending by replay';
    elsif new.deleted_at is not null and old.deleted_at is null then
        raise exception 'event %: only a failed or delivered event can be tombstoned, this one is %', old.id, old.status
            using errcode = 'SL409';
    end if;
    raise exception 'event %: id, seq and idempotency_key never change, and claim_seq never falls', old.id using errcode = 'SL409';
end
$$;

create trigger outbox_refuse
    after update on core.outbox
    for each row when (
        (old.status is distinct from new.status and not (
            (old.status = 'in_flight' and new.status in ('delivered', 'failed'))
            or (old.status = 'pending' and new.status = 'in_flight' and new.claim_seq = old.claim_seq + 1)
            or (old.status = 'in_flight' and new.status = 'pending' and new.retry_after is not null)
            or (old.status = 'failed' and new.status = 'pending' and new.retry_after is not null
                and old.deleted_at is null and new.failure_history is distinct from old.failure_history)
            or (old.status = 'delivered' and new.status = 'failed')))
        or (old.deleted_at is null and new.deleted_at is not null and new.status in ('pending', 'in_flight'))
        or new.claim_seq < old.claim_seq
        or new.id <> old.id
        or new.seq <> old.seq
        or new.idempotency_key <> old.idempotency_key)
    execute function core.outbox_refuse();

-- A tombstone set or cleared by plain SQL is audited like one set by core.outbox_discard.
create function core.outbox_audit_tombstone() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('sluice.audited', true) is distinct from 'on' then
        insert into core.audit (actor, surface, action, event_id, reason)
        values ('sql-direct', 'sql', case when new.deleted_at is null then 'restore' else 'discard' end, new.id,
                'by an UPDATE of deleted_at');
    end if;
    return null;
end
$$;

create trigger outbox_audit_tombstone
    after update on core.outbox
    for each row when (old.deleted_at is distinct from new.deleted_at)
    execute function core.outbox_audit_tombstone();

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

-- When an event of a key is out of the way, the next one becomes due: the nearest later one, which the
-- scan may have passed over (retry_after null) or which was parked (blocked_since set), and a replayed
-- one that was parked.
create function core.outbox_unblock_key() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update core.outbox
    set retry_after = now(), blocked_since = null
    where id = (
        select id from core.outbox
        where ordering_key = old.ordering_key and seq > old.seq and status = 'pending'
        order by seq limit 1)
      and status = 'pending' and (retry_after is null or blocked_since is not null);
    update core.outbox
    set retry_after = now(), blocked_since = null
    where ordering_key = old.ordering_key and failure_history <> '[]' and status = 'pending' and blocked_since is not null;
    return null;
end
$$;

create trigger outbox_unblock_key
    after update on core.outbox
    for each row when (
        new.ordering_key is not null and new.status in ('delivered', 'failed') and old.status is distinct from new.status)
    execute function core.outbox_unblock_key();

create trigger outbox_unblock_key_deleted
    after delete on core.outbox
    for each row when (old.ordering_key is not null and old.status in ('pending', 'in_flight'))
    execute function core.outbox_unblock_key();

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

revoke all on function core.outbox_key_blocker(text, bigint, boolean), core.outbox_refuse(), core.outbox_audit_tombstone(), core.outbox_unblock_key(), core.audit_refuse(),
    core.outbox_default_key() from public;
