-- Events that an operator restores, sends again or cancels come to their end. Functions only: runs in milliseconds.

-- As in 0019. What becomes pending again waits only for handlers that still subscribe in its generation, and is for any worker:
-- somebody may have withdrawn while it was cancelled, and would be waited for, and hold up its ordering key, for ever.
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
        v_event.lane := '';
        v_event.progress := (
            select jsonb_agg(e.w order by e.place)
            from jsonb_array_elements(v_event.progress) with ordinality as e(w, place)
            where exists (select from core.subscriptions s
                          where s.generation = v_event.generation and s.handler_name = e.w ->> 'handler'));
    end if;
    insert into core.audited values (pg_current_xact_id()::text::bigint);
    update core.outbox
    set deleted_at = case when p_discard then now() end, restored_at = case when p_discard then restored_at else now() end,
        retry_after = coalesce(v_due, retry_after), lane = v_event.lane, progress = v_event.progress
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
