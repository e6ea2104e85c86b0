-- A move makes room for a slice that it brings again without looking for what waits behind each event of it. A function only: runs in
-- milliseconds.

-- As in 0002, but while `sluice move` brings events here nobody works, and nothing waits for an event that is taken out: it comes again
-- in the same transaction. To look for the next of its key read, for each event, all that the key has, as long as nobody subscribed; and
-- where somebody did, it changed an event that was brought already.
create or replace function core.outbox_guard_delete() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
    if not exists (select from core.settings s where s.key = 'moving_from') then
        perform core.outbox_unblock(old.ordering_key, null);
    end if;
    return null;
end
$$;
