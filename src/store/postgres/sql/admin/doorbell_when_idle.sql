-- An insert notifies only while every worker of its channel sleeps: whoever holds the channel's lock
-- exclusively is asleep and wants to be notified. A publisher that gets it shared keeps it until its commit, so
-- nobody falls asleep between an insert and its commit. The keys are those of doorbell_key in
-- notification_lock_take.sql. Waits for writers of core.outbox for a moment; readers go on.
begin;
create or replace trigger outbox_notify
    after insert on core.outbox
    for each row when (not pg_try_advisory_xact_lock_shared(1936487785, hashtext(new.channel)))
    execute function core.outbox_notify();
update core.settings set value = 'when-idle' where key = 'doorbell';
