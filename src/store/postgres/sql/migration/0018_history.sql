-- The history of deliveries: the minutes of a day and the hours of 45 days, what the charts are drawn from. Runs in milliseconds:
-- everything is new and empty.

-- Written by every process that delivers, once a minute; what several write for one minute adds up. kind: all, handler, type, sink.
-- The histograms are text, `bucket:count bucket:count`, see docs/reference/schema.md.
create table core.delivery_history (
    hourly    boolean     not null,
    at        timestamptz not null,
    kind      text        not null check (kind in ('all', 'handler', 'type', 'sink')),
    name      text        not null,
    delivered bigint      not null default 0,
    replayed  bigint      not null default 0,
    failed    bigint      not null default 0,
    retried   bigint      not null default 0,
    first     text        not null default '',
    later     text        not null default '',
    replays   text        not null default '',
    newest    bigint,
    backlog   bigint,
    lag_ms    bigint,
    primary key (hourly, at, kind, name)
) with (fillfactor = 70);
comment on table core.delivery_history is 'Deliveries by minute (a day) and by hour (45 days), of all, per handler, event type and sink';

-- Two histograms, or one that names a bucket twice, as one.
create function core.histogram_add(p_one text, p_other text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(string_agg(s.bucket || ':' || s.events, ' ' order by s.bucket), '')
    from (select split_part(e, ':', 1)::int as bucket, sum(split_part(e, ':', 2)::bigint) as events
          from unnest(string_to_array(p_one || ' ' || p_other, ' ')) as e where e <> '' group by 1) s
$$;

-- Adds minutes to their rows and to those of their hours, and forgets what is too old. p_rows: an object per minute and series.
create function core.history_record(p_rows jsonb, p_minutes_kept interval, p_hours_kept interval) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Figures, not events: a commit that the server forgets costs a minute of them.
    perform set_config('synchronous_commit', 'off', true);
    insert into core.delivery_history as h
        (hourly, at, kind, name, delivered, replayed, failed, retried, first, later, replays, newest, backlog, lag_ms)
    select s.hourly, date_trunc(case when s.hourly then 'hour' else 'minute' end, r.at, 'UTC') as at, r.kind, r.name, sum(r.delivered),
           sum(r.replayed), sum(r.failed), sum(r.retried), core.histogram_add(string_agg(r.first, ' '), ''),
           core.histogram_add(string_agg(r.later, ' '), ''), core.histogram_add(string_agg(r.replays, ' '), ''), max(r.newest),
           max(r.backlog), max(r.lag_ms)
    from jsonb_to_recordset(p_rows) as r(at timestamptz, kind text, name text, delivered bigint, replayed bigint, failed bigint,
                                         retried bigint, first text, later text, replays text, newest bigint, backlog bigint, lag_ms bigint)
    cross join (values (false), (true)) as s(hourly)
    group by 1, 2, 3, 4
    -- One order for everybody, so that two processes never wait for each other in a circle.
    order by 1, 2, 3, 4
    on conflict (hourly, at, kind, name) do update
    set delivered = h.delivered + excluded.delivered,
        replayed = h.replayed + excluded.replayed,
        failed = h.failed + excluded.failed,
        retried = h.retried + excluded.retried,
        first = core.histogram_add(h.first, excluded.first),
        later = core.histogram_add(h.later, excluded.later),
        replays = core.histogram_add(h.replays, excluded.replays),
        newest = greatest(h.newest, excluded.newest),
        backlog = greatest(h.backlog, excluded.backlog),
        lag_ms = greatest(h.lag_ms, excluded.lag_ms);
    -- The future: from before the clock was set back.
    delete from core.delivery_history h where not h.hourly and (h.at < now() - p_minutes_kept or h.at > now() + p_minutes_kept);
    delete from core.delivery_history h where h.hourly and (h.at < now() - p_hours_kept or h.at > now() + p_hours_kept);
end
$$;

revoke all on function core.histogram_add(text, text), core.history_record(jsonb, interval, interval) from public;
