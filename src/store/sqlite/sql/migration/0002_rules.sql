-- The rules that hold whoever writes: defaults, legal transitions, the columns of dead letters and of ordering keys, an
-- audit that cannot be edited.
--
-- For the operator: runs once, in one transaction, on a new file; it takes milliseconds and holds the write lock meanwhile.

create trigger outbox_idempotency_key after insert on outbox when new.idempotency_key is null
begin
  update outbox set idempotency_key = new.id where seq = new.seq;
end;

-- Nobody subscribes to the placeholder.
create trigger outbox_default_channel after insert on outbox when new.channel = 'outbox_default'
begin
  update outbox set channel = 'outbox_gen_' || new.generation where seq = new.seq;
end;

-- A tombstone that is cleared by plain SQL.
create trigger outbox_restored after update of deleted_at on outbox
  when old.deleted_at is not null and new.deleted_at is null and new.restored_at is old.restored_at
begin
  update outbox set restored_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z' where seq = new.seq;
end;

-- The edge table of the state machine. RAISE takes literals only, hence one sentence per state.
create trigger outbox_transition before update of status, claim_seq on outbox
begin
  select case
    when old.status = 'pending' and new.status not in ('pending', 'in_flight')
      then raise(abort, 'a pending event can only become in_flight, by a claim')
    when old.status = 'delivered' and new.status not in ('delivered', 'failed')
      then raise(abort, 'a delivered event can only become failed, by a consumer''s report')
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
    when old.status = 'failed' and new.status = 'pending' and new.failure_history = old.failure_history
      then raise(abort, 'a replay must record in failure_history what it replays')
  end;
end;

create trigger outbox_identity before update of id, seq, idempotency_key on outbox
  when new.id <> old.id or new.seq <> old.seq or new.idempotency_key is not coalesce(old.idempotency_key, old.id)
begin
  select raise(abort, 'id, seq and idempotency_key never change');
end;

create trigger audit_no_update before update on audit
begin
  select raise(abort, 'the audit is append-only: a record cannot be changed');
end;

create trigger audit_no_delete before delete on audit
begin
  select raise(abort, 'the audit is append-only: a record cannot be deleted');
end;

-- Dead letters: failed_at and group_id are set while an event is failed, whoever writes. The first event of a group
-- makes its row.
create trigger outbox_failure_insert after insert on outbox when new.status = 'failed'
begin
  update outbox set failed_at = coalesce(failed_at, strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z') where seq = new.seq;
end;

create trigger outbox_failure_begin after update of status on outbox
  when new.status = 'failed' and old.status <> 'failed' and new.failed_at is null
begin
  update outbox set failed_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z' where seq = new.seq;
end;

create trigger outbox_failure_group after update of failed_at on outbox
  when new.status = 'failed' and new.failed_at is not null and new.group_id is null
begin
  update failure_groups
  set last_seen_at = max(last_seen_at, new.failed_at)
  where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
    and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error');
  insert into failure_groups (event_type, source, target, failure_class, fingerprint, sample_error, first_seen_at, last_seen_at)
  select new.event_type, new.source, new.target, coalesce(new.failure_class, 'Error'), coalesce(new.fingerprint, ''),
         coalesce(new.last_error, ''), new.failed_at, new.failed_at
  where not exists (
    select 1 from failure_groups
    where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
      and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error'));
  update outbox
  set group_id = (
    select id from failure_groups
    where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
      and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error'))
  where seq = new.seq;
end;

-- A dead letter that is restored may have outlived the row of its group.
create trigger outbox_failure_restored after update of deleted_at on outbox
  when new.status = 'failed' and old.deleted_at is not null and new.deleted_at is null
    and not exists (select 1 from failure_groups where id = new.group_id)
begin
  update outbox set group_id = null, failed_at = new.failed_at where seq = new.seq;
end;

create trigger outbox_failure_end after update of status on outbox
  when old.status = 'failed' and new.status <> 'failed'
begin
  update failure_groups set replayed = replayed + 1 where id = old.group_id;
  update outbox set failed_at = null, group_id = null where seq = new.seq and failed_at is not null;
end;

-- Ordering keys.

-- Which handlers want which events; to be asked by seq.
create view outbox_subscribers (seq, handler_name) as
select o.seq, s.handler_name
from outbox as o join subscriptions as s on s.generation = o.generation
where (s.context is null or o.target is null or s.context = o.target)
  and (s.channel is null or s.channel = o.channel)
  and exists (
    select 1 from json_each(s.event_types) as pattern
    where pattern.value = o.event_type
       or (substr(pattern.value, -1) = '*'
           and substr(o.event_type, 1, length(pattern.value) - 1) = substr(pattern.value, 1, length(pattern.value) - 1)));

-- The pending events with an ordering key, and whether anybody wants them now.
create view outbox_keyed (seq, generation, key_subscribed, wanted) as
select seq, generation, key_subscribed, exists (select 1 from outbox_subscribers as s where s.seq = o.seq)
from outbox as o
where ordering_key is not null and status = 'pending';

-- After each change of a keyed event exactly one event of its key is unblocked: the one in flight, else the oldest
-- pending one that somebody subscribes to, else the oldest pending one. So at most one can be claimed, and what nobody
-- wants holds up nobody.
create trigger outbox_key_insert after insert on outbox when new.ordering_key is not null
begin
  update outbox set key_subscribed = not key_subscribed
    where seq = new.seq and key_subscribed <> (select wanted from outbox_keyed where seq = new.seq);
  update outbox set key_blocked = 1
    where ordering_key = new.ordering_key and status = 'pending' and key_blocked = 0 and seq <> coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and key_subscribed = 0));
end;

create trigger outbox_key_update after update of status, key_subscribed on outbox
  when new.ordering_key is not null and (new.status <> old.status or new.key_subscribed <> old.key_subscribed)
begin
  update outbox set key_blocked = 1
    where ordering_key = new.ordering_key and status = 'pending' and key_blocked = 0 and seq <> coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and key_subscribed = 0));
  update outbox set key_blocked = 0
    where key_blocked = 1 and seq = coalesce(
      (select seq from outbox where ordering_key = new.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = new.ordering_key and status = 'pending' and key_subscribed = 0));
end;

create trigger outbox_key_delete after delete on outbox when old.ordering_key is not null
begin
  update outbox set key_blocked = 0
    where key_blocked = 1 and seq = coalesce(
      (select seq from outbox where ordering_key = old.ordering_key and status = 'in_flight'),
      (select min(seq) from outbox where ordering_key = old.ordering_key and status = 'pending' and key_subscribed = 1),
      (select min(seq) from outbox where ordering_key = old.ordering_key and status = 'pending' and key_subscribed = 0));
end;

-- An event that becomes pending again, or moves to another generation or channel, may have other subscribers than before.
create trigger outbox_key_moved after update of status, generation, channel, event_type, target on outbox
  when new.ordering_key is not null and new.status = 'pending'
    and (old.status <> 'pending' or new.generation <> old.generation or new.channel <> old.channel
         or new.event_type <> old.event_type or new.target is not old.target)
begin
  update outbox set key_subscribed = not key_subscribed
    where seq = new.seq and key_subscribed <> (select wanted from outbox_keyed where seq = new.seq);
end;

create trigger subscriptions_insert after insert on subscriptions
begin
  update outbox set key_subscribed = not key_subscribed
    where seq in (select seq from outbox_keyed where generation = new.generation and key_subscribed <> wanted);
end;

create trigger subscriptions_update after update on subscriptions
begin
  update outbox set key_subscribed = not key_subscribed
    where seq in (select seq from outbox_keyed
                  where generation in (old.generation, new.generation) and key_subscribed <> wanted);
end;

create trigger subscriptions_delete after delete on subscriptions
begin
  update outbox set key_subscribed = not key_subscribed
    where seq in (select seq from outbox_keyed where generation = old.generation and key_subscribed <> wanted);
end;
