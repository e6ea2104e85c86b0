-- The history of deliveries: the minutes of a day and the hours of 45 days, what the charts are drawn from. For the operator:
-- takes milliseconds, everything is new and empty.
--
-- Written by every process that delivers, once a minute; what several write for one minute adds up. The histograms are text,
-- `bucket:count bucket:count`, see docs/reference/schema.md.
create table delivery_history (
  hourly integer not null,
  at text not null,
  kind text not null
    constraint "kind must be all, handler, type or sink" check (kind in ('all', 'handler', 'type', 'sink')),
  name text not null,
  delivered integer not null default 0,
  replayed integer not null default 0,
  failed integer not null default 0,
  retried integer not null default 0,
  first text not null default '',
  later text not null default '',
  replays text not null default '',
  newest integer,
  backlog integer,
  lag_ms integer,
  primary key (hourly, at, kind, name)
) strict, without rowid;
