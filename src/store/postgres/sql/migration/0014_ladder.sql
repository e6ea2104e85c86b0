-- The steps beyond one table and one file: the figures that tell when one is due, and what a move has brought. Runs in
-- milliseconds: everything is new and empty.

-- One row per hour for the last weeks, written by every process that delivers: what `sluice ladder status` judges.
create table core.ladder_samples (
    hour             timestamptz primary key,
    rows             bigint,
    -- Events delivered at their first attempt, by the time since they were published: counts per bucket.
    latencies        bigint[]    not null default '{}',
    notify_queue     float8,
    snapshot_seconds bigint,
    dead_rows        bigint
) with (fillfactor = 50);
comment on table core.ladder_samples is 'Hourly figures that tell which step of the ladder is due; the last 35 days';

-- Adds what a process has seen to the row of its hour, and forgets what is older than p_kept.
create function core.ladder_record(
    p_rows bigint, p_latencies bigint[], p_notify_queue float8, p_snapshot_seconds bigint, p_dead_rows bigint, p_kept interval)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Figures about load, not events: a commit that the server forgets costs ten minutes of them.
    perform set_config('synchronous_commit', 'off', true);
    insert into core.ladder_samples as s (hour, rows, latencies, notify_queue, snapshot_seconds, dead_rows)
    values (date_trunc('hour', now(), 'UTC'), p_rows, coalesce(p_latencies, '{}'), p_notify_queue, p_snapshot_seconds, p_dead_rows)
    on conflict (hour) do update
    set rows = coalesce(excluded.rows, s.rows),
        latencies = array(
            select coalesce(t.before, 0) + coalesce(t.later, 0)
            from unnest(s.latencies, excluded.latencies) with ordinality as t(before, later, place)
            order by t.place),
        notify_queue = greatest(s.notify_queue, excluded.notify_queue),
        snapshot_seconds = greatest(s.snapshot_seconds, excluded.snapshot_seconds),
        dead_rows = greatest(s.dead_rows, excluded.dead_rows);
    -- The future: from before the clock was set back.
    delete from core.ladder_samples s where s.hour < now() - p_kept or s.hour > now() + p_kept;
end
$$;

revoke all on function core.ladder_record(bigint, bigint[], float8, bigint, bigint, interval) from public;

-- What `sluice move` has brought so far, and the digest of the rows that it was given.
create table core.move_slices (
    table_name text   not null,
    slice      text   not null,
    digest     text   not null,
    rows       bigint not null,
    primary key (table_name, slice)
);
comment on table core.move_slices is 'What `sluice move` brought into this database, slice by slice';
