-- Retention: old events become tombstones, then go; so do old dedup rows. One function: runs in milliseconds.

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

revoke all on function core.outbox_sweep(interval, interval, interval, interval, int, boolean) from public;
