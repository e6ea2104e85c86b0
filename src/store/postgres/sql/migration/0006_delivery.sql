-- Delivery to several handlers in several processes: subscriptions, workers, what an event still waits
-- for, exactly-once effects, rerouting.
--
-- For the operator: the two columns are added without rewriting the table. Building outbox_waiting reads
-- the whole table once and blocks writes meanwhile: seconds per million rows.

-- The handlers that have not handled the event yet, where it has several: attempts and due time of each.
alter table core.outbox add column progress jsonb;
-- The one scope whose workers can go on with the event; empty: any. It keeps what waits for an absent
-- context out of everybody else's way.
alter table core.outbox add column lane text not null default '';

-- Retries, delayed events, replays: only rows that wait pay for it.
create index outbox_waiting on core.outbox (generation, lane, retry_after) where retry_after is not null;
drop index core.outbox_due;

create table core.subscriptions (
    generation    bigint      not null check (generation >= 1),
    handler_name  text        not null,
    event_types   text[]      not null,
    context       text,
    channel       text,
    registered_at timestamptz not null default now(),
    primary key (generation, handler_name)
);
create table core.workers (
    identity   text        primary key,
    generation bigint      not null,
    handlers   text[]      not null,
    listener   text        not null default '',
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
) with (fillfactor = 50);
insert into core.settings (key, value, description) values
    ('subscriptions_version', '0', 'changes with core.subscriptions; a settle that is based on an older one is refused'),
    ('doorbell', 'always', 'when an insert rings: always, or when-idle; set by `sluice db doorbell`');
comment on table core.subscriptions is 'Which handler of which generation wants which events';
comment on table core.workers is 'Worker processes and when they were last seen';

-- What an interest is matched against: channel, target (* for a broadcast) and type.
create function core.outbox_route(p_event core.outbox) returns text
language sql immutable
as $$ select p_event.channel || '/' || coalesce(p_event.target, '*') || '/' || p_event.event_type $$;

-- Whether one of these handlers (null: any) is due, or none is left to wait for.
create function core.outbox_waits_for(p_progress jsonb, p_handlers text[]) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select from jsonb_array_elements(p_progress) as w
        where (p_handlers is null or w ->> 'handler' = any (p_handlers))
          and not coalesce((w ->> 'exhausted')::boolean, false)
          and (w ->> 'due')::timestamptz <= now())
        or not exists (
        select from jsonb_array_elements(p_progress) as w where not coalesce((w ->> 'exhausted')::boolean, false))
$$;

drop function core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[]);
drop function core.outbox_scan_gap(bigint, bigint, bigint, text[], text[]);
drop function core.outbox_settle(tid[], uuid[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], interval[], timestamptz[], text[],
    text[], text[], text[], text[], uuid[]);
-- Groups are named by their interests from now on; a missing cursor costs time, never an event.
delete from core.claim_cursors;

-- Takes up to p_limit events: those that are due first, then new ones above p_after (and up to
-- p_upto, for a sweep). `head` is the highest seq that was looked at; it is returned on a row without
-- an id when everything that was found is blocked by its ordering key.
create function core.outbox_claim(
    p_generation bigint,
    p_worker     text,
    p_limit      int,
    p_ttl        interval,
    p_after      bigint,
    p_upto       bigint,
    p_interests  text[],
    p_handlers   text[],
    p_lanes      text[]
) returns table (
    head            bigint,
    batch           bigint,
    tid             tid,
    id              uuid,
    seq             bigint,
    claim_seq       bigint,
    attempts        int,
    event_type      text,
    event_version   int,
    occurred_at     timestamptz,
    source          text,
    target          text,
    workspace_id    uuid,
    payload         jsonb,
    idempotency_key text,
    trace_context   text,
    channel         text,
    ordering_key    text,
    claimed_at      timestamptz,
    progress        jsonb
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set enable_indexscan = on
set enable_tidscan = on
set jit = off
as $$
#variable_conflict use_column
declare
    v_take   tid[] := '{}';
    v_seqs   bigint[] := '{}';
    v_fresh  tid[];
    v_fresh_seqs bigint[];
    v_parked tid[];
    v_head   bigint;
    v_batch  bigint;
    v_top    bigint;
    v_room   int;
begin
    -- A lost claim is a redelivery, so its commit need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);

    if p_upto is null then
        -- Index outbox_waiting, once per lane.
        select coalesce(array_agg(c.tid) filter (where not c.blocked), '{}'), array_agg(c.seq) filter (where not c.blocked),
               array_agg(c.tid) filter (where c.blocked)
        into v_take, v_seqs, v_parked
        from (
            select w.tid, w.seq, w.blocked
            from unnest(coalesce(p_lanes, array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
                 lateral (
                select o.ctid as tid, o.seq, o.retry_after,
                       o.ordering_key is not null
                           and core.outbox_key_blocker(o.ordering_key, o.seq, o.failure_history <> '[]') is not null as blocked
                from core.outbox o
                where o.generation = p_generation and o.lane = l.lane and o.retry_after <= now()
                  and o.status = 'pending' and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                  and (o.progress is null or core.outbox_waits_for(o.progress, p_handlers))
                order by o.retry_after
                limit p_limit
                for update of o skip locked) w
            order by w.retry_after
            limit p_limit) c;
        if v_parked is not null then
            update core.outbox o
            set retry_after = now() + interval '1 second', blocked_since = coalesce(o.blocked_since, now())
            where o.ctid = any (v_parked);
        end if;
    end if;

    v_room := p_limit - cardinality(v_take);
    if v_room > 0 then
        if p_interests is not null and p_upto is null then
            -- Read before the scan: when the scan ends early, everything up to here was looked at.
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
        end if;
        -- Index outbox_scan. What an earlier event of its key blocks is passed over: the trigger
        -- outbox_unblock_key makes it due. Only when that earlier event is in flight may its end be
        -- under way unseen; then the later one is parked for a second as well.
        select array_agg(c.tid) filter (where c.blocker is null), array_agg(c.seq) filter (where c.blocker is null),
               array_agg(c.tid) filter (where c.blocker = 'in_flight'), max(c.seq)
        into v_fresh, v_fresh_seqs, v_parked, v_head
        from (
            select o.ctid as tid, o.seq,
                   case when o.ordering_key is not null then core.outbox_key_blocker(o.ordering_key, o.seq, false) end as blocker
            from core.outbox o
            where o.generation = p_generation and o.seq > p_after and o.seq <= coalesce(p_upto, 9223372036854775807)
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
            order by o.seq
            limit v_room
            for update of o skip locked) c;
        if v_top > p_after and coalesce(cardinality(v_fresh), 0) + coalesce(cardinality(v_parked), 0) < v_room then
            v_head := greatest(v_head, v_top);
        end if;
        v_take := v_take || v_fresh;
        v_seqs := v_seqs || v_fresh_seqs;
        if v_parked is not null then
            update core.outbox o
            set retry_after = now() + interval '1 second', blocked_since = now()
            where o.ctid = any (v_parked);
        end if;
    end if;

    if cardinality(v_take) = 0 then
        if v_head is not null then
            head := v_head;
            return next;
        end if;
        return;
    end if;

    insert into core.claims (worker, generation, ttl, expires_at, seqs)
    values (p_worker, p_generation, p_ttl, now() + p_ttl, v_seqs)
    returning core.claims.batch into v_batch;

    return query
    update core.outbox o
    set status = 'in_flight', claimed_at = now(), claimed_by = p_worker, claim_seq = o.claim_seq + 1,
        retry_after = null, blocked_since = null
    where o.ctid = any (v_take)
    returning v_head, v_batch, o.ctid, o.id, o.seq, o.claim_seq, o.attempts, o.event_type, o.event_version, o.occurred_at, o.source,
        o.target, o.workspace_id, o.payload, o.idempotency_key, o.trace_context, o.channel, o.ordering_key, o.claimed_at, o.progress;
end
$$;

-- What the scan may have passed too early: the first claimable event in (p_low, p_head], with the
-- oldest running transaction and an id drawn now. Events behind the cursor exist when a transaction
-- drew a small seq and committed late, or when a claimer died before its commit.
create function core.outbox_scan_gap(p_generation bigint, p_low bigint, p_head bigint, p_interests text[])
returns table (oldest_running bigint, first_open bigint, drawn bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    -- Read first: what has ended by now is visible to the next statement.
    oldest_running := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    -- Index outbox_scan.
    first_open := (
        select o.seq from core.outbox o
        where o.generation = p_generation and o.seq > p_low and o.seq <= p_head
          and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
          and (p_interests is null or core.outbox_route(o) like any (p_interests))
          and (o.ordering_key is null or core.outbox_key_blocker(o.ordering_key, o.seq, false) is null)
        order by o.seq limit 1);
    drawn := pg_current_xact_id()::text::bigint;
    return next;
end
$$;

-- Applies decisions, each fenced by its claim_seq. Three sets of parallel arrays: what was delivered,
-- what was not, and which handlers have handled what. Returns the ids that were fenced.
create function core.outbox_settle(
    p_tids           tid[],
    p_ids            uuid[],
    p_claim_seqs     bigint[],
    p_done_batches   bigint[],
    p_undelivered    uuid[],
    p_undelivered_claim_seqs bigint[],
    p_next           text[],
    p_counted        boolean[],
    p_recorded       boolean[],
    p_delays         interval[],
    p_not_before     timestamptz[],
    p_last_errors    text[],
    p_failure_classes  text[],
    p_fingerprints   text[],
    p_progress       jsonb[],
    p_lanes          text[],
    p_handlers       text[],
    p_handled_keys   text[],
    p_handled_events uuid[],
    p_based_on       bigint,
    p_durable        boolean
) returns setof uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_nestloop = on
set enable_indexscan = on
set enable_tidscan = on
set jit = off
as $$
declare
    v_rows bigint;
begin
    if p_based_on <> (select s.value::bigint from core.settings s where s.key = 'subscriptions_version') then
        raise exception 'the subscriptions have changed' using errcode = 'SL410';
    end if;
    -- A lost acknowledgement is a redelivery; a lost failure or dedup row would be a broken promise.
    if not p_durable and cardinality(p_undelivered) = 0 and cardinality(p_handlers) = 0 then
        perform set_config('synchronous_commit', 'off', true);
    end if;

    if cardinality(p_handlers) > 0 then
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select h.handler, h.key, h.event
        from unnest(p_handlers, p_handled_keys, p_handled_events) as h(handler, key, event)
        on conflict do nothing;
    end if;

    if cardinality(p_ids) > 0 then
        update core.outbox o
        set status = 'delivered', delivered_at = now(), progress = null
        from unnest(p_tids, p_ids, p_claim_seqs) as t(tid, id, claim_seq)
        where o.ctid = t.tid and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
        get diagnostics v_rows = row_count;
        if v_rows < cardinality(p_ids) then
            -- The tuple moved (a heartbeat), the locator was unknown, or the claim is lost.
            update core.outbox o
            set status = 'delivered', delivered_at = now(), progress = null
            from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
            where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';
            -- Delivered at this transaction's own time: by this call.
            return query
            select t.id from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
            where not exists (
                select from core.outbox o
                where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'delivered' and o.delivered_at = now());
        end if;
    end if;

    if cardinality(p_undelivered) > 0 then
        return query
        with moved as (
            update core.outbox o
            set status          = t.next,
                attempts        = o.attempts + t.counted::int,
                last_error      = case when t.recorded then t.last_error else o.last_error end,
                failure_class   = case when t.recorded then t.failure_class else o.failure_class end,
                fingerprint     = case when t.recorded then t.fingerprint else o.fingerprint end,
                first_failed_at = case when t.recorded then coalesce(o.first_failed_at, now()) else o.first_failed_at end,
                retry_after     = case when t.next = 'pending' then coalesce(t.not_before, now() + t.delay) end,
                progress        = t.progress,
                lane            = t.lane,
                claimed_at      = case when t.next = 'failed' then o.claimed_at end,
                claimed_by      = case when t.next = 'failed' then o.claimed_by end
            from unnest(p_undelivered, p_undelivered_claim_seqs, p_next, p_counted, p_recorded, p_delays, p_not_before, p_last_errors,
                        p_failure_classes, p_fingerprints, p_progress, p_lanes)
                as t(id, claim_seq, next, counted, recorded, delay, not_before, last_error, failure_class, fingerprint, progress, lane)
            where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'
            returning o.id)
        select t.id from unnest(p_undelivered) as t(id) where t.id not in (select m.id from moved m);
        -- What somebody else can go on with at once is worth a ring.
        if exists (
            select from unnest(p_next, p_delays, p_not_before) as t(next, delay, not_before)
            where t.next = 'pending' and coalesce(t.not_before, now() + t.delay) <= now() + interval '50 milliseconds') then
            perform pg_notify(c.channel, '') from (select distinct o.channel from core.outbox o where o.id = any (p_undelivered)) c;
        end if;
    end if;

    if cardinality(p_done_batches) > 0 then
        delete from core.claims c where c.batch = any (p_done_batches);
    end if;
end
$$;

-- Renews claims; returns the ids whose claim was lost. An event that a handler's own transaction has
-- locked is passed over: while it is locked, nobody else can take it either.
create or replace function core.outbox_heartbeat(p_ids uuid[], p_claim_seqs bigint[], p_batches bigint[], p_ttl interval)
returns setof uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
    update core.claims c set ttl = p_ttl where c.batch = any (p_batches) and c.ttl <> p_ttl;
    update core.outbox o
    set claimed_at = now()
    where o.ctid = any (array(
        select h.ctid from core.outbox h join unnest(p_ids, p_claim_seqs) as t(id, claim_seq) on h.id = t.id
        where h.claim_seq = t.claim_seq and h.status = 'in_flight'
        for update of h skip locked));
    return query
    select t.id from unnest(p_ids, p_claim_seqs) as t(id, claim_seq)
    where not exists (
        select from core.outbox o where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight');
end
$$;

-- Events whose claim's time ran out. Forgets batches that have nothing in flight any more and
-- postpones those that were renewed. Changes no event: the caller settles, fenced by claim_seq.
create or replace function core.outbox_expired(p_limit int)
returns table (id uuid, claim_seq bigint, worker text, attempts int)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_claim core.claims;
    v_until timestamptz;
    v_found int := 0;
    v_rows  int;
begin
    for v_claim in
        select * from core.claims c where c.expires_at <= now() order by c.expires_at limit p_limit for update skip locked
    loop
        -- Index outbox_scan.
        v_until := (
            select min(o.claimed_at) + v_claim.ttl from core.outbox o
            where o.generation = v_claim.generation and o.seq = any (v_claim.seqs)
              and o.status = 'in_flight' and o.claimed_by = v_claim.worker);
        if v_until is null then
            delete from core.claims c where c.batch = v_claim.batch;
        elsif v_until > now() then
            update core.claims c set expires_at = v_until where c.batch = v_claim.batch;
        else
            return query
            select o.id, o.claim_seq, o.claimed_by, o.attempts from core.outbox o
            where o.generation = v_claim.generation and o.seq = any (v_claim.seqs)
              and o.status = 'in_flight' and o.claimed_by = v_claim.worker and o.claimed_at + v_claim.ttl <= now()
            limit p_limit - v_found
            -- A handler's transaction holds its events until it ends.
            for update of o skip locked;
            get diagnostics v_rows = row_count;
            v_found := v_found + v_rows;
            exit when v_found >= p_limit;
        end if;
    end loop;
end
$$;

-- The beginning of an exactly-once effect: records the handler as having handled the events that it still
-- holds. In the caller's transaction, so that it stands or falls with the effect. The unique key of the dedup
-- row is the lock: whoever else wants to run the same handler on the same key waits for this transaction's
-- end. Measured: locking the events as well cost a third of the throughput or more, and protects nothing more.
create function core.effect_enter(p_handler text, p_ids uuid[], p_claim_seqs bigint[], p_keys text[])
returns table (id uuid, entered text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_held  uuid[];
    v_fresh uuid[];
begin
    v_held := array(
        select o.id from core.outbox o join unnest(p_ids, p_claim_seqs) as t(id, claim_seq) on o.id = t.id
        where o.claim_seq = t.claim_seq and o.status = 'in_flight');
    with recorded as (
        insert into core.event_handled (handler_name, idempotency_key, event_id)
        select p_handler, t.key, t.id from unnest(p_ids, p_keys) as t(id, key)
        where t.id = any (v_held)
        order by t.key
        on conflict do nothing
        returning event_id)
    select coalesce(array_agg(r.event_id), '{}') into v_fresh from recorded r;
    return query
    select t.id, case when t.id = any (v_fresh) then 'fresh' when t.id = any (v_held) then 'handled' else 'fenced' end
    from unnest(p_ids) with ordinality as t(id, place)
    order by t.place;
end
$$;

-- Closes the failed cycle of an event and makes it pending again, in place. Returns what it did.
create or replace function core.outbox_replay_as(
    p_event_id       uuid,
    p_new_generation bigint,
    p_replayed_by    text,
    p_surface        text,
    p_reason         text
) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event   core.outbox;
    v_actor   text := coalesce(nullif(p_replayed_by, ''), 'sql-direct');
    v_cycle   int;
    v_max     int;
    v_history jsonb;
begin
    if p_new_generation is null or p_new_generation < 1 then
        raise exception 'p_new_generation: expected 1 or more, got %', coalesce(p_new_generation::text, 'null') using errcode = 'SL422';
    end if;
    select * into v_event from core.outbox where id = p_event_id for update;
    if not found then
        raise exception 'event % does not exist', coalesce(p_event_id::text, 'null') using errcode = 'SL404';
    elsif v_event.status <> 'failed' then
        raise exception 'event % is %, only a failed event can be replayed', p_event_id, v_event.status using errcode = 'SL409';
    elsif v_event.deleted_at is not null then
        raise exception 'event % is discarded: restore it first', p_event_id using errcode = 'SL409';
    end if;

    v_cycle := coalesce((v_event.failure_history -> -1 ->> 'cycle')::int, 0) + 1;
    v_history := v_event.failure_history || jsonb_build_object(
        'cycle', v_cycle,
        'attempts', v_event.attempts,
        'last_error', v_event.last_error,
        'first_failed_at', v_event.first_failed_at,
        'failed_at', v_event.claimed_at,
        'replayed_at', now(),
        'replayed_by', v_actor,
        'error_class', v_event.failure_class,
        'fingerprint', v_event.fingerprint,
        'from_generation', v_event.generation,
        'to_generation', p_new_generation,
        'reason', nullif(p_reason, ''));
    -- Bounded: the first entry and the latest ones stay, the oldest in between go.
    v_max := greatest(coalesce((select value::int from core.settings where key = 'failure_history_max'), 50), 2);
    while jsonb_array_length(v_history) > v_max loop
        v_history := v_history - 1;
    end loop;

    update core.outbox
    set status = 'pending', generation = p_new_generation, attempts = 0, last_error = null, failure_class = null, fingerprint = null,
        first_failed_at = null, failure_history = v_history, claimed_at = null, claimed_by = null, retry_after = now(),
        delivered_at = null, progress = null, lane = '',
        channel = case when channel = 'outbox_gen_' || v_event.generation or channel like 'outbox\_gen\_' || v_event.generation || '\_%'
                       then 'outbox_gen_' || p_new_generation || substr(channel, length('outbox_gen_' || v_event.generation) + 1)
                       else channel end
    where id = p_event_id;

    perform pg_notify(o.channel, o.id::text) from core.outbox o where o.id = p_event_id;

    insert into core.audit (actor, surface, action, event_id, reason, detail)
    values (v_actor, p_surface, 'replay', p_event_id, coalesce(p_reason, ''),
            jsonb_build_object('cycle', v_cycle, 'from_generation', v_event.generation, 'to_generation', p_new_generation));

    return jsonb_build_object('event_id', p_event_id, 'status', 'pending', 'cycle', v_cycle, 'attempts', v_event.attempts,
                              'from_generation', v_event.generation, 'to_generation', p_new_generation, 'replayed_by', v_actor);
end
$$;

-- Adds or replaces subscriptions; the version changes only when one of them does.
create function core.subscribe(p_generation bigint, p_handlers text[], p_event_types jsonb, p_contexts text[], p_channels text[])
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_changed bigint;
begin
    -- One at a time, so that the version never runs behind what it stands for.
    perform from core.settings where key = 'subscriptions_version' for update;
    insert into core.subscriptions as s (generation, handler_name, event_types, context, channel)
    select p_generation, t.handler, array(select jsonb_array_elements_text(p_event_types -> (t.place::int - 1))), t.context, t.channel
    from unnest(p_handlers, p_contexts, p_channels) with ordinality as t(handler, context, channel, place)
    on conflict (generation, handler_name) do update
    set event_types = excluded.event_types, context = excluded.context, channel = excluded.channel, registered_at = now()
    where (s.event_types, s.context, s.channel) is distinct from (excluded.event_types, excluded.context, excluded.channel);
    get diagnostics v_changed = row_count;
    if v_changed > 0 then
        update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    end if;
    return v_changed;
end
$$;

create function core.unsubscribe(p_generation bigint, p_handler text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from core.settings where key = 'subscriptions_version' for update;
    delete from core.subscriptions where generation = p_generation and handler_name = p_handler;
    if not found then
        raise exception 'handler % has no subscription in generation %', p_handler, p_generation using errcode = 'SL404';
    end if;
    update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    -- What waits for it waits for the others only, if there are others; any worker may finish it then.
    update core.outbox o
    set lane = '',
        progress = (select jsonb_agg(w) from jsonb_array_elements(o.progress) as w where w ->> 'handler' <> p_handler)
    where o.generation = p_generation and o.retry_after is not null and o.status = 'pending'
      and o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler));
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'unsubscribe', coalesce(p_reason, ''),
            jsonb_build_object('generation', p_generation, 'handler_name', p_handler));
end
$$;

create function core.worker_announce(p_identity text, p_generation bigint, p_handlers text[], p_listener text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    insert into core.workers as w (identity, generation, handlers, listener)
    values (p_identity, p_generation, p_handlers, p_listener)
    on conflict (identity) do update
    set generation = excluded.generation, handlers = excluded.handlers, listener = excluded.listener, seen_at = now();
    delete from core.workers where seen_at < now() - interval '1 day';
end
$$;

create function core.worker_depart(p_identity text) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ delete from core.workers where identity = p_identity $$;

-- Moves up to p_limit pending events to another generation: what is left of one that has no workers any
-- more. Each call leaves an audit row with its count.
create function core.outbox_reroute(p_from bigint, p_to bigint, p_limit int, p_actor text, p_surface text, p_reason text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_moved bigint;
begin
    if p_from = p_to or p_to < 1 then
        raise exception 'to: expected another generation than %, got %', p_from, p_to using errcode = 'SL422';
    end if;
    update core.outbox o
    set generation = p_to, retry_after = coalesce(o.retry_after, now()), progress = null, lane = '',
        channel = case when o.channel = 'outbox_gen_' || p_from or o.channel like 'outbox\_gen\_' || p_from || '\_%'
                       then 'outbox_gen_' || p_to || substr(o.channel, length('outbox_gen_' || p_from) + 1)
                       else o.channel end
    where o.id = any (array(
        select c.id from core.outbox c
        where c.generation = p_from and c.status = 'pending' and c.deleted_at is null
        order by c.seq limit p_limit for update skip locked));
    get diagnostics v_moved = row_count;
    if v_moved > 0 then
        perform pg_notify('outbox_gen_' || p_to, '');
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (p_actor, p_surface, 'reroute', v_moved, coalesce(p_reason, ''),
                jsonb_build_object('from_generation', p_from, 'to_generation', p_to));
    end if;
    return v_moved;
end
$$;

revoke all on function core.outbox_route(core.outbox), core.outbox_waits_for(jsonb, text[]),
    core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[]),
    core.outbox_scan_gap(bigint, bigint, bigint, text[]),
    core.outbox_settle(tid[], uuid[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[], interval[], timestamptz[],
        text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean),
    core.effect_enter(text, uuid[], bigint[], text[]), core.subscribe(bigint, text[], jsonb, text[], text[]),
    core.unsubscribe(bigint, text, text, text, text), core.worker_announce(text, bigint, text[], text), core.worker_depart(text),
    core.outbox_reroute(bigint, bigint, int, text, text, text) from public;
