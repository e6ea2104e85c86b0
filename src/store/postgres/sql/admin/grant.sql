-- Roles and what each may do. Repeatable; needs CREATEROLE where a role is missing.
do $$
declare
    v_role     text;
    v_function regprocedure;
begin
    -- Two grants at once would both find a role missing, or update the same catalogue row.
    perform pg_advisory_xact_lock(hashtextextended('sluice.grant', 0));
    foreach v_role in array array['sluice_owner', 'sluice_publisher', 'sluice_worker', 'sluice_operator', 'sluice_reader'] loop
        begin
            if to_regrole(v_role) is null then
                execute format('create role %I nologin', v_role);
            end if;
        exception when duplicate_object or unique_violation then
            null;  -- made meanwhile from another database of this cluster
        end;
    end loop;

    -- The functions run as a role that nobody can log in as and that owns no more than it needs.
    if not pg_has_role(current_user, 'sluice_owner', 'member') then
        execute format('grant sluice_owner to %I', current_user);
    end if;
    grant usage, create on schema core to sluice_owner;
    grant select, insert, update, delete on core.outbox, core.event_handled, core.deployments, core.claims, core.claim_cursors,
        core.subscriptions, core.workers, core.failure_groups, core.operations, core.operation_items, core.keys_in_flight,
        core.claim_heads, core.patrol, core.patrol_slices, core.stranded, core.sinks, core.audited, core.ladder_samples, core.attempts,
        core.delivery_history, core.saved_filters to sluice_owner;
    grant select, update on core.settings to sluice_owner;
    grant select on core.secrets to sluice_owner;
    grant select, insert on core.audit to sluice_owner;
    grant usage, select on all sequences in schema core to sluice_owner;
    grant execute on function core.outbox_subscribed(core.outbox), core.outbox_blocker(text, bigint, uuid), core.outbox_park(uuid[]),
        core.outbox_unblock(text, bigint), core.key_floor_advance(bigint), core.patrol_heal(jsonb), core.patrol_release_keys(),
        core.outbox_complaint(core.outbox), core.payload_text(jsonb, bigint), core.payload_complaint(jsonb),
        core.retention_check(interval, interval, interval, interval), core.outbox_route(core.outbox), core.outbox_waits_for(jsonb, text[]),
        core.outbox_acknowledge_by_id(uuid[], bigint[]), core.claims_forgotten(bigint[]),
        core.failure_group(text, text, text, text, text, text), core.group_matches(core.failure_groups, jsonb),
        core.dead_matches(core.outbox, jsonb), core.failure_history_after(core.outbox, bigint, text, text, uuid, int),
        core.outbox_reset(uuid[], bigint, text, text, uuid), core.last_cycle(jsonb),
        core.operation_fits(text, core.operation_items, core.outbox), core.operation_locked(uuid), core.operation_held(uuid, text),
        core.outbox_partitioned(), core.partition_boundary(), core.partitions(), core.swept_one_by_one(), core.sweep_next(interval, int),
        core.attempts_record(jsonb, uuid[]), core.attempts_sweep(interval, int), core.histogram_add(text, text),
        core.outbox_check_edge(uuid, text, text, bigint, boolean, boolean, boolean, boolean),
        core.outbox_check_tombstone(uuid, text, timestamptz, boolean, boolean), core.outbox_lock(uuid, text), core.outbox_must_wait(uuid, text, boolean, text, text), core.failure_history_note(uuid, jsonb),
        core.outbox_handlers(uuid), core.generation_not_retired(bigint), core.channel_in(text, bigint, bigint)
        to sluice_owner;
    -- To see since when other users' transactions are open; where this is not ours to give, their locks have to do.
    begin
        if not pg_has_role('sluice_owner', 'pg_read_all_stats', 'member') then
            grant pg_read_all_stats to sluice_owner;
        end if;
    exception when insufficient_privilege or unique_violation then
        null;
    end;
    for v_function in
        select p.oid from pg_proc p
        where p.pronamespace = 'core'::regnamespace and p.prosecdef
          -- Makes and drops tables, which takes the owner of core.outbox.
          and p.proname <> 'partition_upkeep'
    loop
        execute format('alter function %s owner to sluice_owner', v_function);
    end loop;
end
$$;

grant usage on schema core to sluice_publisher, sluice_worker, sluice_operator, sluice_reader;

-- Publishers write new events and read nothing but their ids.
grant insert (id, event_type, event_version, occurred_at, source, target, content_class, channel, generation, workspace_id, payload,
              idempotency_key, trace_context, ordering_key, retry_after), select (id) on core.outbox to sluice_publisher;
grant usage on sequence core.outbox_seq to sluice_publisher;
grant select on core.sluice_migrations to sluice_publisher, sluice_worker, sluice_operator, sluice_reader;
grant execute on function core.uuid_v7(), core.default_generation(), core.generation_exists(bigint), core.outbox_partitioned(),
    core.outbox_publish(text, jsonb, text, text, bigint, uuid, int, timestamptz, uuid, text, text, text, text, text, text, timestamptz)
    to sluice_publisher;

-- Readers see everything and change nothing.
grant select on core.outbox, core.event_handled, core.deployments, core.claims, core.claim_cursors, core.audit, core.settings,
    core.subscriptions, core.workers, core.failure_groups, core.operations, core.operation_items, core.keys_in_flight,
    core.claim_heads, core.patrol, core.patrol_slices, core.stranded, core.sinks, core.ladder_samples, core.attempts, core.delivery_history,
    core.saved_filters to sluice_reader, sluice_worker, sluice_operator;
grant select on sequence core.outbox_seq to sluice_reader, sluice_worker, sluice_operator;
grant execute on function core.default_generation(), core.generation_exists(bigint), core.payload_text(jsonb, bigint),
    core.group_matches(core.failure_groups, jsonb),
    core.dead_matches(core.outbox, jsonb), core.outbox_subscribed(core.outbox), core.outbox_blocker(text, bigint, uuid),
    core.generation_publishers(bigint), core.outbox_partitioned(), core.partition_boundary(), core.partitions(), core.swept_one_by_one()
    to sluice_reader, sluice_worker, sluice_operator;

-- Workers move events through the functions, never by UPDATE.
grant execute on function core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[], boolean, bigint[], interval),
    core.outbox_claim_stretch(bigint, text, interval, bigint, bigint, text[], text[], text[], interval),
    core.outbox_acknowledge(tid[], timestamptz, timestamptz, uuid[], bigint[], bigint[], bigint[], bigint, boolean, boolean),
    core.claim_cursor_advance(text, bigint, text[]), core.claim_holes(bigint, bigint, bigint, text[]), core.handled_among(text[], text[]),
    core.claim_late(bigint, bigint[], bigint[], text[]), core.claim_reserve(text, bigint, bigint, bigint),
    core.patrol_step(text, interval, interval, interval, int),
    core.ladder_record(bigint, bigint[], float8, bigint, bigint, interval), core.history_record(jsonb, interval, interval),
    core.outbox_settle(tid[], timestamptz, timestamptz, uuid[], bigint[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[], interval[], timestamptz[],
                       text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean),
    core.outbox_settle_recorded(tid[], timestamptz, timestamptz, uuid[], bigint[], bigint[], bigint[], uuid[], bigint[], text[], boolean[], boolean[], interval[],
                       timestamptz[], text[], text[], text[], jsonb[], text[], text[], text[], uuid[], bigint, boolean, jsonb),
    core.relay_report_recorded(uuid[], bigint[], text[], text[], boolean[], boolean[], bigint[], text[], text[], text[], jsonb[], jsonb[]),
    core.effect_enter(text, tid[], timestamptz, timestamptz, uuid[], bigint[], text[]), core.effect_enter_relayed(text, uuid[], text[]),
    core.relay_report(uuid[], bigint[], text[], text[], boolean[], boolean[], bigint[], text[], text[], text[], jsonb[]), core.subscribe(bigint, text[], jsonb, text[], text[], text),
    core.worker_announce(text, bigint, text[], text), core.worker_depart(text), core.token_secret(),
    -- For a daemon that withdraws what it subscribed to; audited.
    core.unsubscribe(bigint, text, text, text, text),
    -- A daemon declares its sinks and says what became of their receivers; audited.
    core.sink_declare(text[], text[], text[], jsonb), core.sink_switch(text, text, text, text, text),
    core.sink_circuit(text, interval, text, text, text),
    core.outbox_heartbeat(uuid[], bigint[], bigint[], interval), core.outbox_expired(int), core.claims_close(bigint[]),
    core.prune(text[], interval),
    core.outbox_sweep(interval, interval, interval, interval, int, boolean, text, text, text),
    core.partition_upkeep(interval, interval, interval, interval, int, boolean, text, text, text),
    -- Carrying out what an operator started.
    core.operation_hold(uuid, text, interval), core.operation_advance(uuid, text, int, timestamptz),
    core.operation_end(uuid, text, text, text), core.operation_release(uuid, text)
    to sluice_worker;
-- A handler that records its effect and the dedup row in one transaction inserts the row itself.
grant insert on core.event_handled to sluice_worker;

-- Operators replay, discard and move generations, all audited. The runbook's UPDATE of deleted_at is
-- audited by a trigger.
grant execute on function core.outbox_replay(uuid, bigint, text), core.outbox_replay_as(uuid, bigint, text, text, text),
    core.outbox_tombstone(uuid, boolean, text, text, text), core.outbox_discard(uuid, text, text),
    core.outbox_restore(uuid, text, text), core.outbox_schedule(uuid, timestamptz, text, text, text),
    core.outbox_cancel(uuid, text, text, text), core.outbox_send_to(uuid, text, text, bigint, text, text, text),
    core.generation_allocate(bigint, text, text, text, text),
    core.generation_move(bigint, text, text, text, text), core.unsubscribe(bigint, text, text, text, text),
    core.outbox_reroute(bigint, bigint, int, text, text, text),
    core.outbox_sweep(interval, interval, interval, interval, int, boolean, text, text, text),
    core.partition_upkeep(interval, interval, interval, interval, int, boolean, text, text, text),
    core.failure_acknowledge(text, boolean, text, text, text), core.failure_note(text, text, text, text),
    core.filter_save(text, text, text, text, text), core.filter_remove(text, text, text, text), core.sink_switch(text, text, text, text, text),
    core.relay_switch(text, text, text, text, text),
    core.operation_plan(uuid, text, jsonb, uuid[], text, bigint, int, int, int, interval, bigint, text, text, text),
    core.operation_start(uuid, bigint, int, int, int, text, text, text), core.operation_change(uuid, text, int, text, text, text),
    core.operation_hold(uuid, text, interval), core.operation_advance(uuid, text, int, timestamptz),
    core.operation_end(uuid, text, text, text), core.operation_release(uuid, text)
    to sluice_operator;
grant update (deleted_at) on core.outbox to sluice_operator;
