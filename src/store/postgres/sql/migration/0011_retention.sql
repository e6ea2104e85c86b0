-- Retention: old events become tombstones, then go; so do old dedup rows. Functions only: runs in milliseconds.

-- Refuses times that would break dedup; and, to anybody but the owner of core.outbox, times that are shorter than those in
-- core.settings. A worker's rights are for delivering: with another interval they would be for deleting dead letters.
create function core.retention_check(
    p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Whoever called the function that called this one, also after a SET ROLE.
    v_caller text := coalesce(nullif(current_setting('role', true), 'none'), session_user);
    v_short  record;
begin
    if coalesce(p_active <= interval '0', true) then
        raise exception 'p_active: expected longer than zero, got %', coalesce(p_active::text, 'null') using errcode = 'SL422';
    elsif coalesce(p_grace < interval '0', true) then
        raise exception 'p_grace: expected zero or longer, got %', coalesce(p_grace::text, 'null') using errcode = 'SL422';
    elsif coalesce(p_handled_grace < interval '0', true) then
        raise exception 'p_handled_grace: expected zero or longer, got %', coalesce(p_handled_grace::text, 'null') using errcode = 'SL422';
    elsif coalesce(p_handled_active <= p_active + p_grace, true) then
        raise exception 'p_handled_active: % must be longer than p_active + p_grace (%), or a replayed event could be handled twice',
            coalesce(p_handled_active::text, 'null'), p_active + p_grace using errcode = 'SL422';
    end if;
    if pg_has_role(v_caller, (select c.relowner from pg_class c where c.oid = 'core.outbox'::regclass), 'member') then
        return;
    end if;
    select t.name, t.asked, s.key, s.value as least into v_short
    from (values ('outbox.active', p_active), ('outbox.grace', p_grace),
                 ('event_handled.active', p_handled_active), ('event_handled.grace', p_handled_grace)) as t(name, asked)
    join core.settings s on s.key = 'retention_' || replace(t.name, '.', '_')
    where t.asked < s.value::interval
    limit 1;
    if found then
        raise exception 'retention.% is %, and this database keeps at least % (core.settings, %): only the owner of the schema may shorten it',
            v_short.name, v_short.asked, v_short.least, v_short.key using errcode = 'SL403';
    end if;
end
$$;

-- What is swept event by event: all that occurred before `below` or not before `above`. On the plain table that is everything.
-- Where there are partitions it is what no month holds: the oldest partition, which was the table, and the default one. A month
-- goes as a whole (core.partition_upkeep).
create function core.swept_one_by_one(out below timestamptz, out above timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if core.outbox_partitioned() then
        select coalesce(min(p.until) filter (where p.since is null), min(p.since)), max(p.until) into below, above
        from core.partitions() p where not p.is_default;
    end if;
    below := coalesce(below, 'infinity');
    above := coalesce(above, 'infinity');
end
$$;

-- The next events to tombstone, locked.
create function core.sweep_next(p_active interval, p_limit int) returns table (id uuid, failed boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_below timestamptz;
    v_above timestamptz;
    v_rows  int;
begin
    select s.below, s.above into v_below, v_above from core.swept_one_by_one() s;
    -- Index outbox_age. Old events that are not finished, or were delivered late, stay at its head; they are few.
    return query
    select o.id, o.status = 'failed' from core.outbox o
    where o.deleted_at is null and o.published_at is not null and greatest(o.published_at, o.failed_at, o.restored_at) <= now() - p_active
      and o.status in ('delivered', 'failed') and coalesce(o.delivered_at, '-infinity') <= now() - p_active
      and (o.occurred_at < v_below or o.occurred_at >= v_above)
    order by greatest(o.published_at, o.failed_at, o.restored_at) limit p_limit for update skip locked;
    get diagnostics v_rows = row_count;
    if v_below < 'infinity' then
        -- The dead letters of the months. Index outbox_dead.
        return query
        select o.id, true from core.outbox o
        where o.deleted_at is null and o.failed_at <= now() - p_active and o.status = 'failed'
          and greatest(o.published_at, o.failed_at, o.restored_at) <= now() - p_active
          and o.occurred_at >= v_below and o.occurred_at < v_above
        order by o.failed_at limit p_limit - v_rows for update skip locked;
    end if;
end
$$;

-- One bounded batch of retention, audited where it took something. An event is as old as the latest of: when it was
-- published, delivered, failed, restored. Its business time, which the publisher chooses, has no part in it. A dedup row
-- stays while its event is there, so it outlives every replay.
create function core.outbox_sweep(
    p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval, p_limit int, p_dry_run boolean,
    p_actor text default null, p_surface text default 'sql', p_reason text default null
) returns table (tombstoned bigint, deleted bigint, failed bigint, handled bigint, more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids    uuid[];
    v_failed bigint;
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
          where o.deleted_at <= now() - p_grace and o.status in ('delivered', 'failed')
          order by o.deleted_at limit p_limit for update skip locked) t;
    deleted := cardinality(v_ids);
    if not p_dry_run then
        delete from core.outbox o where o.id = any (v_ids);
    end if;

    select coalesce(array_agg(t.id), '{}'), count(*) filter (where t.failed) into v_ids, v_failed from core.sweep_next(p_active, p_limit) t;
    tombstoned := cardinality(v_ids);
    failed := failed + v_failed;
    if not p_dry_run then
        insert into core.audited values (pg_current_xact_id()::text::bigint);
        update core.outbox o set deleted_at = now() where o.id = any (v_ids);
        delete from core.audited where xid = pg_current_xact_id()::text::bigint;
    end if;
    more := greatest(deleted, tombstoned, handled) >= p_limit;

    if not p_dry_run and greatest(deleted, tombstoned, handled) > 0 then
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'retention.sweep', deleted + tombstoned, coalesce(p_reason, ''),
                jsonb_build_object('outbox_tombstoned', tombstoned, 'outbox_deleted', deleted, 'failed_swept', failed,
                                   'handled_deleted', handled));
    end if;
    return next;
end
$$;

-- Forgets what stands for nothing any more.
-- A mark of the scan: nobody has moved it for a week, and no process says that it uses it (p_groups: those of the caller).
-- A group of failures: no dead letter is left of it, and none has come for as long as one is kept (p_kept).
create function core.prune(p_groups text[], p_kept interval) returns table (cursors bigint, failure_groups bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Rows that a claim holds are in use; one that is not renewed now is tomorrow.
    update core.claim_cursors c set saved_at = now()
    where c.ctid = any (array(
        select u.ctid from core.claim_cursors u
        where u.group_key = any (p_groups) and u.saved_at < now() - interval '1 day'
        for update skip locked));
    -- A group that comes back scans once more from the beginning. The row without a name is the floor of all keys.
    delete from core.claim_cursors c
    where c.ctid = any (array(
        select u.ctid from core.claim_cursors u
        where u.group_key <> '' and u.saved_at < now() - interval '7 days'
        for update skip locked));
    get diagnostics cursors = row_count;
    delete from core.claim_heads h where not exists (select from core.claim_cursors c where c.group_key = h.group_key);

    -- Index outbox_dead_groups. What fails meanwhile renews the row first, and the row is asked again.
    delete from core.failure_groups c
    where c.last_seen_at < now() - greatest(p_kept, interval '1 day') - interval '1 day'
      and not exists (select from core.outbox o where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null);
    get diagnostics failure_groups = row_count;
    return next;
end
$$;

revoke all on function core.retention_check(interval, interval, interval, interval), core.prune(text[], interval), core.swept_one_by_one(), core.sweep_next(interval, int),
    core.outbox_sweep(interval, interval, interval, interval, int, boolean, text, text, text) from public;
