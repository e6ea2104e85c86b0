-- Operating it: when an event failed, kinds of failure that can be known to the operators, and bulk changes
-- that are carried out step by step.
--
-- For the operator: runs once, in one transaction that holds the write lock. The columns are added without
-- rewriting the table; each failed event is then written once and two indexes over the failed ones are
-- built: some seconds per million of them, next to nothing for the others.

-- When the current cycle failed, and in which way; null in every other state. Kept by the outbox_failure_*
-- triggers, whoever writes.
alter table outbox add column failed_at text;
alter table outbox add column cluster_id integer;

-- One row per kind of failure that was ever seen. A failed event without class or fingerprint counts as
-- class Error with an empty fingerprint.
create table failure_clusters (
  id integer primary key,
  event_type text not null,
  source text not null,
  target text,
  failure_class text not null,
  fingerprint text not null,
  sample_error text not null,
  first_seen_at text not null,
  replayed integer not null default 0,
  acknowledged_at text,
  acknowledged_by text not null default '',
  acknowledged_reason text not null default ''
) strict;
create unique index failure_clusters_kind
  on failure_clusters (fingerprint, event_type, source, coalesce(target, ''), failure_class);

-- The first that failed at all speaks for its kind.
insert into failure_clusters (event_type, source, target, failure_class, fingerprint, sample_error, first_seen_at)
select event_type, source, target, coalesce(failure_class, 'Error'), coalesce(fingerprint, ''), coalesce(last_error, ''),
       min(coalesce(first_failed_at, claimed_at, published_at))
from outbox
where status = 'failed'
group by event_type, source, target, coalesce(failure_class, 'Error'), coalesce(fingerprint, '');

update outbox
set failed_at = coalesce(claimed_at, first_failed_at, published_at),
    cluster_id = (
      select id from failure_clusters as kind
      where kind.fingerprint = coalesce(outbox.fingerprint, '') and kind.event_type = outbox.event_type
        and kind.source = outbox.source and coalesce(kind.target, '') = coalesce(outbox.target, '')
        and kind.failure_class = coalesce(outbox.failure_class, 'Error'))
where status = 'failed';

-- The dead letters, newest failure first, and those of one kind. The trailing columns answer filters and
-- groups from the index.
create index outbox_dead on outbox (failed_at, seq, cluster_id, generation)
  where failed_at is not null and deleted_at is null;
create index outbox_dead_cluster on outbox (cluster_id, failed_at, seq, generation)
  where failed_at is not null and deleted_at is null;

create trigger outbox_failure_insert after insert on outbox when new.status = 'failed'
begin
  update outbox set failed_at = coalesce(failed_at, strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z') where seq = new.seq;
end;

create trigger outbox_failure_begin after update of status on outbox
  when new.status = 'failed' and old.status <> 'failed' and new.failed_at is null
begin
  update outbox set failed_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z' where seq = new.seq;
end;

create trigger outbox_failure_cluster after update of failed_at on outbox
  when new.status = 'failed' and new.failed_at is not null and new.cluster_id is null
begin
  insert into failure_clusters (event_type, source, target, failure_class, fingerprint, sample_error, first_seen_at)
  select new.event_type, new.source, new.target, coalesce(new.failure_class, 'Error'), coalesce(new.fingerprint, ''),
         coalesce(new.last_error, ''), new.failed_at
  where not exists (
    select 1 from failure_clusters
    where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
      and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error'));
  update outbox
  set cluster_id = (
    select id from failure_clusters
    where fingerprint = coalesce(new.fingerprint, '') and event_type = new.event_type and source = new.source
      and coalesce(target, '') = coalesce(new.target, '') and failure_class = coalesce(new.failure_class, 'Error'))
  where seq = new.seq;
end;

create trigger outbox_failure_end after update of status on outbox
  when old.status = 'failed' and new.status <> 'failed'
begin
  update failure_clusters set replayed = replayed + 1 where id = old.cluster_id;
  update outbox set failed_at = null, cluster_id = null where seq = new.seq and failed_at is not null;
end;

-- A bulk change of dead letters: planned, then carried out by whoever holds the lease.
create table operations (
  id text primary key not null,
  kind text not null
    constraint "kind must be replay, discard or restore" check (kind in ('replay', 'discard', 'restore')),
  state text not null
    constraint "state must be planned, running, paused, stopped, cancelled or finished"
      check (state in ('planned', 'running', 'paused', 'stopped', 'cancelled', 'finished')),
  filter text not null,
  to_generation integer,
  rate integer not null
    constraint "rate must not be negative" check (rate >= 0),
  canary integer not null
    constraint "canary must not be negative" check (canary >= 0),
  stop_percent integer not null
    constraint "stop_percent must be between 0 and 100" check (stop_percent between 0 and 100),
  total integer not null,
  taken integer not null default 0,
  delivered integer not null default 0,
  failed_again integer not null default 0,
  skipped integer not null default 0,
  changed integer not null default 0,
  paced_at text,
  actor text not null,
  surface text not null,
  reason text not null,
  note text not null default '',
  executor text not null default '',
  lease_until text,
  planned_at text not null,
  expires_at text not null,
  started_at text,
  ended_at text,
  constraint "the counts must add up to at most the total"
    check (delivered + failed_again + skipped + changed <= taken and taken <= total)
) strict, without rowid;
create index operations_planned on operations (planned_at);
create index operations_running on operations (started_at) where state = 'running';

-- Its events, in insert order. claim_seq and cycle tell whether an event is still as the plan saw it; from
-- the replay on, cycle is the one that the replay closed.
create table operation_items (
  operation_id text not null,
  place integer not null,
  event_id text not null,
  claim_seq integer not null,
  cycle integer not null,
  state text not null default 'waiting'
    constraint "state must be waiting, in_flight, delivered, failed_again, skipped or changed"
      check (state in ('waiting', 'in_flight', 'delivered', 'failed_again', 'skipped', 'changed')),
  primary key (operation_id, place)
) strict, without rowid;
create index operation_items_in_flight on operation_items (operation_id, place) where state = 'in_flight';
