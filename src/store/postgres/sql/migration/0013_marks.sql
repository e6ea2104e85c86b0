-- No event is passed over: the low mark moves in the database, inside the statement that has just read every number it
-- moves over; ordering keys are held by rows, not by neighbours; a patrol walks what is kept and heals what was missed.
--
-- For the operator: three indexes over events that have an ordering key are built, which reads the whole table once and
-- blocks writes meanwhile: seconds per million rows.

-- Whether some handler of its generation subscribes to the event. In plpgsql, which keeps its plan: measured, a fifth of the
-- time that an SQL function takes.
create function core.outbox_subscribed(p_event core.outbox) returns boolean
language plpgsql stable
as $$
begin
    return exists (
        select from core.subscriptions s
        where s.generation = p_event.generation
          and (s.context is null or p_event.target is null or s.context = p_event.target)
          and (s.channel is null or s.channel = p_event.channel)
          and exists (
            select from unnest(s.event_types) as p
            where p = p_event.event_type or (right(p, 1) = '*' and starts_with(p_event.event_type, left(p, -1)))));
end
$$;

-- Ordering keys ------------------------------------------------------------------------------------------------------

-- The keys of which an event is in flight. The primary key is the promise: never two of one key at once. A row appears
-- with the claim and goes with the settle, in the same transaction.
create table core.keys_in_flight (
    ordering_key text collate "C" primary key,
    event_id     uuid not null
) with (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);
comment on table core.keys_in_flight is 'Ordering keys of which an event is in flight, and which one';
insert into core.keys_in_flight (ordering_key, event_id)
select o.ordering_key, o.id from core.outbox o where o.status = 'in_flight' and o.ordering_key is not null
on conflict do nothing;

-- Keyed events that wait for their time or behind another one.
create index outbox_waiting_keys on core.outbox (ordering_key, seq) where ordering_key is not null and retry_after is not null;
-- Keyed events by number, for the floor of the keys. As an expression, so that no plan takes it to find the events of one key
-- in order: without statistics that looked as cheap as outbox_ordering, and read them all.
create index outbox_keyed on core.outbox ((seq + 0)) where ordering_key is not null;
drop index core.outbox_replayed_keys;

-- The marks of the scan, a row per group of workers that want the same events:
--   low       every event at or below it that the group wants was claimed once or waits for something;
--   mark      the next place for low, once every transaction up to mark_xid has ended.
-- The row with the empty name is the floor of the ordering keys: no keyed event at or below its low that somebody
-- subscribes to is new.
alter table core.claim_cursors
    add column mark       bigint not null default 0,
    add column mark_xid   bigint not null default 0,
    add column generation bigint,
    add column interests  text[];
delete from core.claim_cursors;

-- How far the processes of a group have shared out a backlog among them. A matter of speed: it may be lost or wrong.
create table core.claim_heads (
    group_key text   primary key,
    head      bigint not null
) with (fillfactor = 10);
comment on table core.claim_heads is 'How far the processes of a group have shared out a backlog';

-- The event that this one has to wait for, null when nothing stands in its way: one of its key that is in flight; or an
-- earlier one that is not delivered and that somebody subscribes to, whether it waits or is new. New ones lie above the
-- floor, so the history of a key is not read.
-- The plans are pinned by the functions that call it: its own settings would cost more than its work.
create function core.outbox_blocker(p_key text, p_seq bigint, p_id uuid) returns uuid
language plpgsql stable
as $$
declare
    v_id uuid;
begin
    select k.event_id into v_id from core.keys_in_flight k where k.ordering_key = p_key collate "C" and k.event_id <> p_id;
    if found then
        return v_id;
    end if;
    -- Index outbox_waiting_keys.
    select o.id into v_id from core.outbox o
    where o.ordering_key = p_key and o.retry_after is not null and o.seq < p_seq
      and o.status = 'pending' and o.deleted_at is null and core.outbox_subscribed(o)
    order by o.seq limit 1;
    if found then
        return v_id;
    end if;
    -- Index outbox_ordering.
    select o.id into v_id from core.outbox o
    where o.ordering_key = p_key and o.seq < p_seq
      and o.seq > coalesce((select c.low from core.claim_cursors c where c.group_key = ''), 0)
      and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and core.outbox_subscribed(o)
    order by o.seq limit 1;
    return v_id;
end
$$;

-- Parks events that wait behind another one of their key: out of the scan, until the other one's end makes them due (or
-- ten minutes have passed). Returns the numbers of those that it parked. The blocker's row is held meanwhile: a settle
-- that is under way cannot see this event, so where one is, the event is left as it is and somebody comes back. So it is
-- while a subscription is withdrawn, which releases what is parked and could not see it either.
create function core.outbox_park(p_ids uuid[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    v_event   core.outbox;
    v_blocker uuid;
    v_parked  bigint[] := '{}';
    v_id      uuid;
begin
    if not pg_try_advisory_xact_lock_shared(hashtextextended('sluice.park', 0)) then
        return v_parked;
    end if;
    foreach v_id in array p_ids loop
        select * into v_event from core.outbox o
        where o.id = v_id and o.status = 'pending' and o.deleted_at is null and o.ordering_key is not null
        for update skip locked;
        continue when not found;
        v_blocker := core.outbox_blocker(v_event.ordering_key, v_event.seq, v_event.id);
        perform from core.outbox b where b.id = v_blocker and b.status in ('pending', 'in_flight') for share skip locked;
        continue when not found;
        -- It may have been settled between the question and the lock, and wait for its next attempt behind this one.
        continue when core.outbox_blocker(v_event.ordering_key, v_event.seq, v_event.id) is distinct from v_blocker;
        update core.outbox o
        set retry_after = now() + interval '10 minutes', blocked_since = coalesce(o.blocked_since, now())
        where o.id = v_id;
        v_parked := v_parked || v_event.seq;
    end loop;
    return v_parked;
end
$$;

-- An event of this key is out of the way: the first one that waits behind it, parked or passed over by the scan, is due,
-- and with it those before it that nobody subscribes to, which may never end and release it.
-- With p_before only one that has a smaller number: it need not wait for the other's next attempt.
create function core.outbox_unblock(p_key text, p_before bigint) returns void
language plpgsql volatile
as $$
declare
    v_before bigint := coalesce(p_before, 9223372036854775807);
    v_new    core.outbox;
    v_parked core.outbox;
begin
    -- Index outbox_ordering.
    select * into v_new from core.outbox w
    where w.ordering_key = p_key and w.seq < v_before
      and w.seq > coalesce((select c.low from core.claim_cursors c where c.group_key = ''), 0)
      and w.status = 'pending' and w.retry_after is null and w.deleted_at is null and core.outbox_subscribed(w)
    order by w.seq limit 1;
    -- Index outbox_waiting_keys.
    for v_parked in
        select * from core.outbox w
        where w.ordering_key = p_key and w.retry_after is not null and w.seq < coalesce(v_new.seq, v_before)
          and w.status = 'pending' and w.blocked_since is not null and w.deleted_at is null
        order by w.seq
    loop
        update core.outbox o
        set retry_after = now(), blocked_since = null
        where o.id = v_parked.id and o.status = 'pending' and o.blocked_since is not null;
        if core.outbox_subscribed(v_parked) then
            return;
        end if;
    end loop;
    update core.outbox o
    set retry_after = now(), blocked_since = null
    where o.id = v_new.id and o.status = 'pending' and (o.retry_after is null or o.blocked_since is not null);
end
$$;

create or replace function core.outbox_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.id <> old.id or new.seq <> old.seq or new.idempotency_key <> old.idempotency_key or new.claim_seq < old.claim_seq then
        raise exception 'event %: id, seq and idempotency_key never change, and claim_seq never falls', old.id using errcode = 'SL409';
    end if;
    -- Most updates change none of these, and asking costs more than comparing.
    if (new.status, new.event_type, new.event_version, new.source, new.target, new.channel, new.generation, new.ordering_key, new.attempts)
           is distinct from
       (old.status, old.event_type, old.event_version, old.source, old.target, old.channel, old.generation, old.ordering_key, old.attempts)
       or new.payload is distinct from old.payload or new.failure_history is distinct from old.failure_history then
        if core.outbox_complaint(new) is not null then
            raise exception using errcode = '23514', message = core.outbox_complaint(new);
        end if;
    end if;

    if new.status is distinct from old.status then
        case
            when (old.status, new.status) = ('pending', 'in_flight') then
                if new.claim_seq <> old.claim_seq + 1 then
                    raise exception 'event %: a claim must raise claim_seq by one', old.id using errcode = 'SL409';
                end if;
            when (old.status, new.status) in (('in_flight', 'delivered'), ('in_flight', 'failed'), ('delivered', 'failed')) then
                null;
            when (old.status, new.status) in (('in_flight', 'pending'), ('failed', 'pending')) then
                if new.retry_after is null then
                    raise exception 'event %: what becomes pending again needs a retry_after', old.id using errcode = 'SL409';
                elsif old.status = 'failed' and (old.deleted_at is not null or new.failure_history = old.failure_history) then
                    raise exception 'event %: a failed event returns to pending only by core.outbox_replay', old.id
                        using errcode = 'SL409';
                end if;
            else
                raise exception 'event %: illegal transition % -> %', old.id, old.status, new.status
                    using errcode = 'SL409',
                          hint = 'legal: pending -> in_flight -> delivered | failed | pending, failed -> pending by replay';
        end case;
    end if;

    if new.deleted_at is distinct from old.deleted_at then
        if old.deleted_at is null and new.status in ('pending', 'in_flight') then
            raise exception 'event %: only a failed or delivered event can be tombstoned, this one is %', old.id, old.status
                using errcode = 'SL409';
        end if;
        if current_setting('sluice.audited', true) is distinct from 'on' then
            insert into core.audit (actor, surface, action, event_id, reason)
            values ('sql-direct', 'sql', case when new.deleted_at is null then 'restore' else 'discard' end, new.id,
                    'by an UPDATE of deleted_at');
        end if;
    end if;

    -- Failed, or no longer failed, by plain SQL: the dead-letter queue has to know it.
    if new.status = 'failed' and (new.failed_at is null or new.cluster_id is null) then
        update core.outbox
        set failed_at = coalesce(new.failed_at, now()),
            cluster_id = core.failure_cluster(new.event_type, new.source, new.target, new.failure_class, new.fingerprint, new.last_error)
        where id = new.id;
    elsif new.status <> 'failed' and (new.failed_at is not null or new.cluster_id is not null) then
        update core.outbox set failed_at = null, cluster_id = null where id = new.id;
    end if;

    if new.ordering_key is not null and old.status = 'in_flight' and new.status <> 'in_flight' then
        delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
        perform core.outbox_unblock(old.ordering_key, case when new.status = 'pending' then old.seq end);
    end if;
    return null;
end
$$;

create or replace function core.outbox_guard_delete() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core.keys_in_flight k where k.ordering_key = old.ordering_key collate "C" and k.event_id = old.id;
    perform core.outbox_unblock(old.ordering_key, null);
    return null;
end
$$;

drop function core.outbox_unblock_key(text, bigint);

-- As before, and releases what waits behind events that nobody subscribes to any more.
create or replace function core.unsubscribe(p_generation bigint, p_handler text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rung bigint;
begin
    -- Whoever parks an event now has to be seen below; see core.outbox_park.
    perform pg_advisory_xact_lock(hashtextextended('sluice.park', 0));
    perform from core.settings where key = 'subscriptions_version' for update;
    delete from core.subscriptions where generation = p_generation and handler_name = p_handler;
    if not found then
        raise exception 'handler % has no subscription in generation %', p_handler, p_generation using errcode = 'SL404';
    end if;
    update core.settings set value = (value::bigint + 1)::text where key = 'subscriptions_version';
    -- What waits for it waits for the others only, if there are others.
    with freed as (
        update core.outbox o
        set lane = null,
            progress = (select jsonb_agg(w) from jsonb_array_elements(o.progress) as w where w ->> 'handler' <> p_handler),
            retry_after = case when o.blocked_since is null then o.retry_after else now() end,
            blocked_since = null
        where o.generation = p_generation and o.retry_after is not null and o.status = 'pending'
          and o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler))
        returning o.channel),
    -- Keys cross generations. Whoever still has to wait is parked again by the next claim. A row that is among those above
    -- must not be touched twice: one of the two changes would be lost.
    released as (
        update core.outbox o
        set retry_after = now(), blocked_since = null
        where o.ordering_key is not null and o.retry_after is not null and o.blocked_since is not null and o.status = 'pending'
          and not (o.generation = p_generation
                   and coalesce(o.progress @> jsonb_build_array(jsonb_build_object('handler', p_handler)), false))
        returning o.channel)
    select count(pg_notify(c.channel, '')) into v_rung
    from (select f.channel from freed f union select r.channel from released r) c;
    insert into core.audit (actor, surface, action, reason, detail)
    values (p_actor, p_surface, 'unsubscribe', coalesce(p_reason, ''),
            jsonb_build_object('generation', p_generation, 'handler_name', p_handler));
end
$$;

-- The scan -----------------------------------------------------------------------------------------------------------

drop function core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[], boolean);
drop function core.outbox_scan_gap(bigint, bigint, bigint, text[]);
drop function core.claim_cursor_save(text, bigint);
drop function core.outbox_key_blocker(text, bigint, boolean);

-- Takes up to p_limit events: with p_due those that are due first, then new ones above p_after, up to p_upto where that
-- is given. `head` is the highest seq that was looked at: all of p_upto, or of the generation, when there was room for
-- more; it is returned on a row without an id when nothing could be taken. `top` is the highest seq of the generation,
-- without p_upto, to tell how much lies ahead. What waits behind another event of its key is passed over: the other one's
-- end makes it due, or core.claim_cursor_advance parks it.
create function core.outbox_claim(
    p_generation bigint,
    p_worker     text,
    p_limit      int,
    p_ttl        interval,
    p_after      bigint,
    p_upto       bigint,
    p_interests  text[],
    p_handlers   text[],
    p_lanes      text[],
    p_due        boolean
) returns table (
    head            bigint,
    top             bigint,
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
    v_take    tid[] := '{}';
    v_seqs    bigint[] := '{}';
    v_keyed   boolean;
    v_fresh   tid[];
    v_fresh_seqs  bigint[];
    v_fresh_keyed boolean;
    v_blocked uuid[];
    v_parked  bigint[];
    v_seen    bigint;
    v_upto    bigint;
    v_head    bigint;
    v_batch   bigint;
    v_top     bigint;
    v_room    int;
begin
    -- A lost claim is a redelivery, so its commit need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);

    if p_due then
        -- Index outbox_waiting, once per lane.
        select coalesce(array_agg(c.tid) filter (where not c.blocked), '{}'), coalesce(array_agg(c.seq) filter (where not c.blocked), '{}'),
               array_agg(c.id) filter (where c.blocked), bool_or(c.keyed)
        into v_take, v_seqs, v_blocked, v_keyed
        from (
            select w.tid, w.seq, w.id, w.blocked, w.keyed
            from unnest(coalesce(p_lanes, array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
                 lateral (
                select o.ctid as tid, o.seq, o.id, o.retry_after, o.ordering_key is not null as keyed,
                       o.ordering_key is not null and core.outbox_blocker(o.ordering_key, o.seq, o.id) is not null as blocked
                from core.outbox o
                where o.generation = p_generation and coalesce(o.lane, '') = l.lane and o.retry_after <= now()
                  and o.status = 'pending' and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                  and (o.progress is null or core.outbox_waits_for(o.progress, p_handlers))
                order by o.retry_after
                limit p_limit
                for update of o skip locked) w
            order by w.retry_after
            limit p_limit) c;
        if v_blocked is not null then
            v_parked := core.outbox_park(v_blocked);
            -- The end of what blocks these is under way, or came in between: look again in a moment.
            if cardinality(v_parked) < cardinality(v_blocked) then
                update core.outbox o
                set retry_after = now() + interval '100 milliseconds', blocked_since = coalesce(o.blocked_since, now())
                where o.id = any (v_blocked) and o.seq <> all (v_parked);
            end if;
        end if;
    end if;

    v_room := p_limit - cardinality(v_take);
    if v_room > 0 then
        v_upto := p_upto;
        if p_upto is null then
            -- Read before the scan: when the scan ends early, everything up to here was looked at.
            v_top := (select o.seq from core.outbox o where o.generation = p_generation order by o.seq desc limit 1);
            -- Not further than a few times what is asked for: all of it may wait behind one key.
            v_upto := coalesce((
                select o.seq from core.outbox o
                where o.generation = p_generation and o.seq > p_after
                  and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                  and (p_interests is null or core.outbox_route(o) like any (p_interests))
                order by o.seq offset 4 * v_room limit 1), v_top);
        end if;
        -- Index outbox_scan. What waits behind its key is not locked: the end of the one before it would have to wait.
        select array_agg(c.tid), array_agg(c.seq), bool_or(c.keyed), count(*), max(c.seq)
        into v_fresh, v_fresh_seqs, v_fresh_keyed, v_seen, v_head
        from (
            select o.ctid as tid, o.seq, o.ordering_key is not null as keyed
            from core.outbox o
            where o.generation = p_generation and o.seq > p_after and o.seq <= v_upto
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
              and (p_interests is null or core.outbox_route(o) like any (p_interests))
              and (o.ordering_key is null or core.outbox_blocker(o.ordering_key, o.seq, o.id) is null)
            order by o.seq
            limit v_room
            for update of o skip locked) c;
        if v_seen < v_room then
            v_head := greatest(v_head, v_upto, p_after);
        end if;
        v_take := v_take || v_fresh;
        v_seqs := v_seqs || v_fresh_seqs;
        v_keyed := v_keyed or v_fresh_keyed;
    end if;

    if v_keyed then
        -- In one order for everybody, so that two claims never wait for each other in a circle. Who finds a key taken
        -- (its event was committed and claimed since the scan) leaves the event to a later look.
        with wanted as materialized (
            select o.ctid as tid, o.seq, o.id, o.ordering_key from core.outbox o where o.ctid = any (v_take)),
        held as (
            insert into core.keys_in_flight (ordering_key, event_id)
            select w.ordering_key, w.id from wanted w
            where w.ordering_key is not null
              and not exists (select from core.keys_in_flight k where k.ordering_key = w.ordering_key collate "C")
            order by w.ordering_key collate "C", w.seq
            on conflict do nothing
            returning event_id)
        select coalesce(array_agg(w.tid), '{}'), coalesce(array_agg(w.seq), '{}') into v_take, v_seqs
        from wanted w
        where w.ordering_key is null or w.id in (select h.event_id from held h);
    end if;

    if cardinality(v_take) = 0 then
        if v_head is not null then
            head := v_head;
            top := v_top;
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
    returning v_head, v_top, v_batch, o.ctid, o.id, o.seq, o.claim_seq, o.attempts, o.event_type, o.event_version, o.occurred_at, o.source,
        o.target, o.workspace_id, o.payload, o.idempotency_key, o.trace_context, o.channel, o.ordering_key, o.claimed_at, o.progress;
end
$$;

-- Reads what the group may have passed over and moves its low mark. The only place that moves one, and only over numbers
-- that it has just read and found taken, settled, parked or absent, once no transaction is left that could commit one of
-- them. One caller at a time per group; who comes meanwhile is told so (busy) and comes again.
--
-- Why it is right: `last_value` is read before this transaction has an id of its own. Whoever drew a number up to there had
-- its id before that (see the default of core.outbox.seq), so its id is smaller than ours. Once the oldest running
-- transaction is younger than the id that was written beside the mark, everything up to the mark is visible or will never
-- exist; and it is read with the same snapshot that said so.
--
-- Returns low, the first number that can be claimed now (null: none), and how far it has read.
create function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[])
returns table (low bigint, first_open bigint, upto bigint, busy boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
    c_rows   constant int := 10000;
    c_parks  constant int := 1000;
    v_parks  int := 0;
    -- A sequence that has given out nothing yet tells the number that it will give out first.
    v_last   bigint := (select s.last_value - (not s.is_called)::int from core.outbox_seq s);
    v_row    core.claim_cursors;
    v_at     bigint;
    v_plain  bigint;
    v_held   bigint;
    v_rows   bigint;
    v_top    bigint;
    v_ids    uuid[];
    v_seqs   bigint[];
    v_parked bigint[];
    v_ended  boolean;
begin
    if pg_current_xact_id_if_assigned() is not null then
        raise exception 'core.claim_cursor_advance must be the first to write in its transaction' using errcode = 'SL409';
    end if;
    perform set_config('synchronous_commit', 'off', true);
    select * into v_row from core.claim_cursors c where c.group_key = p_group for update skip locked;
    if not found then
        -- Asked first: an insert would wait for whoever holds the row.
        if not exists (select from core.claim_cursors c where c.group_key = p_group) then
            insert into core.claim_cursors (group_key, low, generation, interests) values (p_group, 0, p_generation, p_interests)
            on conflict do nothing
            returning * into v_row;
        end if;
        if v_row.group_key is null then
            low := (select c.low from core.claim_cursors c where c.group_key = p_group);
            upto := low;
            busy := true;
            return next;
            return;
        end if;
    end if;

    v_at := v_row.low;
    while v_at < v_last loop
        -- Index outbox_scan. One statement, one snapshot: that of the question whether all have ended, too.
        select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid,
               min(c.seq) filter (where c.open and not c.keyed), count(*), max(c.seq),
               array_agg(c.id order by c.seq) filter (where c.open and c.keyed), array_agg(c.seq order by c.seq) filter (where c.open and c.keyed)
        into v_ended, v_plain, v_rows, v_top, v_ids, v_seqs
        from (
            select o.seq, o.id, o.ordering_key is not null as keyed,
                   o.status = 'pending' and o.retry_after is null and o.deleted_at is null
                       and (p_interests is null or core.outbox_route(o) like any (p_interests)) as open
            from core.outbox o
            where o.generation = p_generation and o.seq > v_at and o.seq <= v_last
            order by o.seq
            limit c_rows) c;
        v_top := case when v_rows < c_rows then v_last else v_top end;
        first_open := v_plain;
        -- The first number that holds low back: one that can be claimed, or whose event cannot be parked now.
        v_held := v_plain;
        if v_ids is not null then
            for i in 1 .. cardinality(v_ids) loop
                exit when v_seqs[i] > v_plain;
                if not exists (
                    select from core.outbox o
                    where o.id = v_ids[i] and o.ordering_key is not null and core.outbox_blocker(o.ordering_key, o.seq, o.id) is not null) then
                    first_open := v_seqs[i];
                    v_held := least(v_held, v_seqs[i]);
                    exit;
                end if;
                v_parked := core.outbox_park(array[v_ids[i]]);
                if cardinality(v_parked) = 0 then
                    v_held := least(v_held, v_seqs[i]);
                end if;
                v_parks := v_parks + 1;
                if v_parks = c_parks then
                    -- The rest is for the next call.
                    v_last := v_seqs[i];
                    v_top := v_last;
                    first_open := null;
                    exit;
                end if;
            end loop;
        end if;
        if v_ended and v_row.low = v_at then
            v_row.low := greatest(v_row.low, least(v_row.mark, v_top, v_held - 1));
        end if;
        exit when first_open is not null;
        v_at := v_top;
    end loop;
    -- Without a number to read, whoever ran when the mark was set may still run.
    if v_ended is null then
        v_ended := pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid;
    end if;

    update core.claim_cursors c
    set low      = v_row.low,
        mark     = case when v_ended then greatest(c.mark, v_last) else c.mark end,
        mark_xid = case when v_ended then pg_current_xact_id()::text::bigint else c.mark_xid end,
        saved_at = now()
    where c.group_key = p_group;
    perform core.key_floor_advance(v_last);
    low := v_row.low;
    upto := v_last;
    busy := false;
    return next;
end
$$;

-- Gives the caller the next p_length numbers of a backlog that reaches up to p_top, of which it has looked at those up to
-- p_after: no other process of the group gets them. Not granted where less than that is left; `after` is then how far the
-- others have come.
create function core.claim_reserve(p_group text, p_after bigint, p_length bigint, p_top bigint)
returns table (after bigint, granted boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    insert into core.claim_heads as h (group_key, head) values (p_group, p_after + p_length)
    on conflict (group_key) do update set head = greatest(h.head, p_after) + p_length
    where greatest(h.head, p_after) + p_length <= p_top
    returning h.head - p_length into after;
    granted := after is not null;
    if not granted then
        after := least((select h.head from core.claim_heads h where h.group_key = p_group), p_top);
    end if;
    return next;
end
$$;

-- Moves the floor of the ordering keys by the same rule, over one slice: past keyed events that are not new, or that nobody
-- subscribes to. p_last: the sequence's number, read before the transaction had an id.
create function core.key_floor_advance(p_last bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    c_numbers constant int := 100000;
    v_row   core.claim_cursors;
    v_ended boolean;
    v_open  bigint;
    v_upto  bigint;
begin
    select * into v_row from core.claim_cursors c where c.group_key = '' for update skip locked;
    if not found then
        if not exists (select from core.claim_cursors c where c.group_key = '') then
            insert into core.claim_cursors (group_key, low) values ('', 0) on conflict do nothing;
        end if;
        return;
    end if;
    v_upto := least(v_row.mark, v_row.low + c_numbers);
    -- Index outbox_keyed. One statement, one snapshot.
    select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > v_row.mark_xid,
           (select o.seq from core.outbox o
            where o.ordering_key is not null and o.seq + 0 > v_row.low and o.seq + 0 <= v_upto
              and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and core.outbox_subscribed(o)
            order by o.seq + 0 limit 1)
    into v_ended, v_open;
    if not v_ended then
        return;
    end if;
    update core.claim_cursors c
    set low      = greatest(c.low, least(v_upto, v_open - 1)),
        mark     = greatest(c.mark, p_last),
        mark_xid = pg_current_xact_id()::text::bigint,
        saved_at = now()
    where c.group_key = '';
end
$$;

revoke all on function core.outbox_subscribed(core.outbox), core.outbox_blocker(text, bigint, uuid), core.outbox_park(uuid[]),
    core.outbox_unblock(text, bigint), core.key_floor_advance(bigint), core.claim_cursor_advance(text, bigint, text[]),
    core.claim_reserve(text, bigint, bigint, bigint),
    core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[], boolean) from public;
