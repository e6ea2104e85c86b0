-- An attempt at a consumer of a broker is written down once. A report that was committed and whose answer was lost is made again, and
-- the log had its attempt twice. A function only: runs in milliseconds.

-- As in 0017, but an attempt of a consumer (claim_seq 0) that is there already is left out: whoever settles holds the rows, so what the
-- first report has written is seen here. Under a claim nothing is settled twice.
create or replace function core.attempts_record(p_attempts jsonb, p_except uuid[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
    v_most int := greatest(coalesce((select s.value::int from core.settings s where s.key = 'attempts_kept'), 20), 2);
begin
    insert into core.attempts (event_id, number, claim_seq, replay, handler_name, worker, started_at, duration_us, outcome, status_code,
                               error, response, trace_id)
    select o.id, coalesce((select max(l.number) from core.attempts l where l.event_id = o.id), 0)
                 + row_number() over (partition by o.id order by a.place),
           (a.v ->> 'claim_seq')::bigint, core.last_cycle(o.failure_history), nullif(a.v ->> 'handler_name', ''), a.v ->> 'worker',
           (a.v ->> 'started_at')::timestamptz, (a.v ->> 'duration_us')::bigint, a.v ->> 'outcome',
           nullif((a.v ->> 'status_code')::int, 0), nullif(a.v ->> 'error', ''), nullif(a.v ->> 'response', ''),
           coalesce(nullif(a.v ->> 'trace_id', ''), substr(o.trace_context, 4, 32))
    from jsonb_array_elements(p_attempts) with ordinality as a(v, place)
    join core.outbox o on o.id = (a.v ->> 'event_id')::uuid
    where o.id <> all (p_except)
      and ((a.v ->> 'claim_seq')::bigint > 0 or not exists (
          select from core.attempts l
          where l.event_id = o.id and l.claim_seq = 0 and l.worker = a.v ->> 'worker' and l.handler_name = a.v ->> 'handler_name'
            and l.started_at = (a.v ->> 'started_at')::timestamptz));
    delete from core.attempts t
    using (select l.event_id, max(l.number) as latest from core.attempts l
           where l.event_id in (select (a.v ->> 'event_id')::uuid from jsonb_array_elements(p_attempts) as a(v))
           group by l.event_id) as own
    where t.event_id = own.event_id and t.number > 1 and t.number <= own.latest - (v_most - 1);
end
$$;
