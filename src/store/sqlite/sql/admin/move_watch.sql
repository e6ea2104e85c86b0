-- From now on the slices that anybody writes to are noted, by numbers that grow, so that a move need not read everything again
-- to find what has changed. The row without a name tells one watch from another: its number is the time at which it began.
create table if not exists move_touched (
  name  text not null,
  slice text not null,
  at    integer not null,
  primary key (name, slice)
) without rowid;
create index if not exists move_touched_at on move_touched (at);
insert or ignore into move_touched (name, slice, at) values ('', '', cast(julianday('now') * 86400000000 as integer));
create trigger if not exists move_watch_outbox_i after insert on outbox
begin
  insert into move_touched (name, slice, at)
  values ('outbox', printf('%015d', (new.seq - 1) / 2000), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_outbox_u after update on outbox
begin
  insert into move_touched (name, slice, at)
  values ('outbox', printf('%015d', (new.seq - 1) / 2000), (select max(at) + 1 from move_touched)),
         ('outbox', printf('%015d', (old.seq - 1) / 2000), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_outbox_d after delete on outbox
begin
  insert into move_touched (name, slice, at)
  values ('outbox', printf('%015d', (old.seq - 1) / 2000), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_event_handled_i after insert on event_handled
begin
  insert into move_touched (name, slice, at)
  values ('event_handled', substr(new.handled_at, 1, 16), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_event_handled_u after update on event_handled
begin
  insert into move_touched (name, slice, at)
  values ('event_handled', substr(new.handled_at, 1, 16), (select max(at) + 1 from move_touched)),
         ('event_handled', substr(old.handled_at, 1, 16), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_event_handled_d after delete on event_handled
begin
  insert into move_touched (name, slice, at)
  values ('event_handled', substr(old.handled_at, 1, 16), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_audit_i after insert on audit
begin
  insert into move_touched (name, slice, at)
  values ('audit', printf('%015d', (new.id - 1) / 2000), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_audit_u after update on audit
begin
  insert into move_touched (name, slice, at)
  values ('audit', printf('%015d', (new.id - 1) / 2000), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_audit_d after delete on audit
begin
  insert into move_touched (name, slice, at)
  values ('audit', printf('%015d', (old.id - 1) / 2000), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_attempts_i after insert on attempts
begin
  insert into move_touched (name, slice, at)
  values ('attempts', substr(new.recorded_at, 1, 16), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_attempts_u after update on attempts
begin
  insert into move_touched (name, slice, at)
  values ('attempts', substr(new.recorded_at, 1, 16), (select max(at) + 1 from move_touched)),
         ('attempts', substr(old.recorded_at, 1, 16), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
create trigger if not exists move_watch_attempts_d after delete on attempts
begin
  insert into move_touched (name, slice, at)
  values ('attempts', substr(old.recorded_at, 1, 16), (select max(at) + 1 from move_touched))
  on conflict (name, slice) do update set at = excluded.at;
end;
