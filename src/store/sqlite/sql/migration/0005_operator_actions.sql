-- What an operator may do to one event: let a pending one run now or later, cancel it and take that back, send a
-- delivered one again. Builds four indexes of pending events anew: a moment per million of those, while nobody writes.

-- A pending event may be tombstoned: cancelled. A CHECK cannot be altered otherwise without copying the table; its text
-- is all that changes, and no row can break what is only widened.
pragma writable_schema = on;
update sqlite_schema
set sql = replace(sql,
  'constraint "only delivered or failed events may be tombstoned"
    check (deleted_at is null or status in (''delivered'', ''failed''))',
  'constraint "an event in flight cannot be tombstoned" check (deleted_at is null or status <> ''in_flight'')')
where type = 'table' and name = 'outbox';
pragma writable_schema = reset;

-- A cancelled event is in none of the indexes of pending events: whoever asks for those says that it is not deleted.
drop index outbox_due;
drop index outbox_fresh;
drop index outbox_key_claimable;
drop index outbox_key_pending;
create index outbox_due on outbox (generation, key_blocked, retry_after, seq, occurred_at, target, channel, event_type, lane)
  where status = 'pending' and deleted_at is null and retry_after is not null;
create index outbox_fresh on outbox (generation, key_blocked, seq, occurred_at, target, channel, event_type)
  where status = 'pending' and deleted_at is null and retry_after is null;
create index outbox_key_claimable on outbox (ordering_key)
  where ordering_key is not null and status = 'pending' and deleted_at is null and key_blocked = 0;
create index outbox_key_pending on outbox (ordering_key, key_subscribed, seq)
  where ordering_key is not null and status = 'pending' and deleted_at is null;

drop view outbox_keyed;
create view outbox_keyed (seq, generation, key_subscribed, wanted) as
select seq, generation, key_subscribed, exists (select 1 from outbox_subscribers as s where s.seq = o.seq)
from outbox as o
where ordering_key is not null and status = 'pending' and deleted_at is null;

-- As before, with cancelled events left out.
drop trigger outbox_key_insert;
create trigger outbox_key_insert after insert on outbox when new.ordering_key is not null
begin
  update outbox set key_subscribed = not key_subscribed
    where seq = new.seq and key_subscribed <> (select wanted from outbox_keyed where seq = new.seq);
  update outbox set key_blocked = 1
    where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_blocked = 0 and seq <> coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
end;

drop trigger outbox_key_update;
create trigger outbox_key_update after update of status, key_subscribed, deleted_at on outbox
  when new.ordering_key is not null
    and (new.status <> old.status or new.key_subscribed <> old.key_subscribed
         or (new.status = 'pending' and (new.deleted_at is null) <> (old.deleted_at is null)))
begin
  update outbox set key_blocked = 1
    where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_blocked = 0 and seq <> coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
  update outbox set key_blocked = 0
    where key_blocked = 1 and seq = coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
end;

drop trigger outbox_key_delete;
create trigger outbox_key_delete after delete on outbox when old.ordering_key is not null
begin
  update outbox set key_blocked = 0
    where key_blocked = 1 and seq = coalesce(
      (select seq from outbox where ordering_key = old.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = old.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = old.ordering_key and status = 'pending' and deleted_at is null and key_subscribed = 0));
end;

-- Subscriptions may have changed while it was cancelled.
drop trigger outbox_key_moved;
create trigger outbox_key_moved after update of status, generation, channel, event_type, target, deleted_at on outbox
  when new.ordering_key is not null and new.status = 'pending' and new.deleted_at is null
    and (old.status <> 'pending' or new.generation <> old.generation or new.channel <> old.channel
         or new.event_type <> old.event_type or new.target is not old.target or old.deleted_at is not null)
begin
  update outbox set key_subscribed = not key_subscribed
    where seq = new.seq and key_subscribed <> (select wanted from outbox_keyed where seq = new.seq);
end;

drop trigger outbox_transition;
create trigger outbox_transition before update of status, claim_seq on outbox
begin
  select case
    when old.status = 'pending' and new.status not in ('pending', 'in_flight')
      then raise(abort, 'a pending event can only become in_flight, by a claim')
    when old.status = 'pending' and new.status = 'in_flight' and old.deleted_at is not null
      then raise(abort, 'a cancelled event cannot be claimed')
    when old.status = 'delivered' and new.status = 'in_flight'
      then raise(abort, 'a delivered event can only become failed, by a consumer''s report, or pending, when it is sent again')
    when old.status = 'delivered' and new.status = 'failed' and instr(coalesce(old.claimed_by, ''), '/relay:') = 0
      then raise(abort, 'only an event that a relay has delivered to a broker can fail afterwards')
    when old.status = 'failed' and new.status not in ('failed', 'pending')
      then raise(abort, 'a failed event can only become pending, by a replay')
    when old.status = 'pending' and new.status = 'in_flight' and new.claim_seq <> old.claim_seq + 1
      then raise(abort, 'a claim must raise claim_seq by exactly one')
    when (old.status <> 'pending' or new.status <> 'in_flight') and new.claim_seq <> old.claim_seq
      then raise(abort, 'claim_seq changes with a claim only')
    when old.status <> 'pending' and new.status = 'pending' and new.retry_after is null
      then raise(abort, 'an event that becomes pending again must have retry_after set')
    when old.status in ('failed', 'delivered') and new.status = 'pending' and old.deleted_at is not null
      then raise(abort, 'a tombstoned event cannot be replayed or sent again')
    when old.status = 'failed' and new.status = 'pending' and new.failure_history = old.failure_history
      then raise(abort, 'a replay must record in failure_history what it replays')
    when old.status = 'delivered' and new.status = 'pending' and new.failure_history = old.failure_history
      then raise(abort, 'what sends a delivered event again must record it in failure_history')
  end;
end;

create trigger outbox_uncancelled before update of deleted_at on outbox
  when new.status = 'pending' and old.deleted_at is not null and new.deleted_at is null and new.retry_after is null
begin
  select raise(abort, 'an event that becomes claimable again must have retry_after set');
end;
