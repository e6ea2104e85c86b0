-- Ordering keys wait only for events that somebody subscribes to; what the patrol has healed, and where it is.
--
-- For the operator: runs once, in one transaction that holds the write lock. One index over the pending events with an
-- ordering key is rebuilt, and each of them is looked at: about a second per hundred thousand of them, next to nothing for
-- the others.

-- Of a pending event with an ordering key: 1 when a subscription of its generation matches it. Later events of its key
-- wait for no other. Kept by the outbox_key_* and subscriptions_* triggers, so that a publish or a settle finds the head of
-- a key by index, however many events that nobody wants lie before it.
alter table outbox add column key_subscribed integer not null default 1;

drop trigger outbox_key_insert;
drop trigger outbox_key_update;
drop trigger outbox_key_delete;
drop index outbox_key_pending;
create index outbox_key_pending on outbox (ordering_key, key_subscribed, seq)
  where ordering_key is not null and status = 'pending';

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

-- The triggers unblock what waited for events that nobody wants.
update outbox set key_subscribed = 0 where seq in (select seq from outbox_keyed where not wanted);

-- What the patrol found stranded and healed: the latest thousand.
create table stranded (
  id integer primary key autoincrement,
  at text not null,
  event_id text not null,
  event_type text not null,
  generation integer not null,
  cause text not null
    constraint "cause must be passed_over, no_claim or blocker_gone"
      check (cause in ('passed_over', 'no_claim', 'blocker_gone'))
) strict;

-- Who patrols, until when nobody else does, and where it goes on: behind an ordering key, then behind a place in
-- outbox_due.
create table patrol (
  one integer primary key constraint "there is one patrol" check (one = 1),
  holder text not null default '',
  lease_until text,
  part text not null default 'keys'
    constraint "part must be keys or due" check (part in ('keys', 'due')),
  place text not null default '',
  place_generation integer not null default 0,
  place_blocked integer not null default 0,
  place_seq integer not null default 0
) strict;
insert into patrol (one) values (1);
