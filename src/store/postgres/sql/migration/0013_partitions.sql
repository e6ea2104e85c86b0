-- Monthly partitions of core.outbox (`sluice ladder partition`): making them out of the plain table, making months ahead,
-- dropping old ones. On the plain table all of it rests. Functions only: runs in milliseconds.
--
-- The parent has no key of its own: a key of a partitioned table must contain occurred_at, and events are known by their id.
-- Each partition has the primary key (id); core.outbox_once keeps an id from a second month.

-- Without settings of its own, so that it is inlined: every publish asks.
create function core.outbox_partitioned() returns boolean
language sql stable
as $$ select c.relkind = 'p' from pg_catalog.pg_class c where c.oid = pg_catalog.to_regclass('core.outbox') $$;

-- The month that the constraint of an unfinished `sluice ladder partition` ends before; null without one.
create function core.partition_boundary() returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
as $$
    select substring(pg_get_constraintdef(c.oid) from '< ''([^'']+)''')::timestamptz
    from pg_constraint c where c.conrelid = to_regclass('core.outbox') and c.conname = 'outbox_month'
$$;

-- The partitions, the oldest first and the default one last; nothing on the plain table. since and until are null where there is
-- no bound. rows is what the statistics say, note what held it when it was to be dropped.
create function core.partitions()
returns table (leaf oid, name text, since timestamptz, until timestamptz, is_default boolean, rows bigint, bytes bigint, note text)
language sql stable
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
as $$
    select p.oid, p.relname::text, substring(p.bound from 'FROM \(''([^'']+)''\)')::timestamptz,
           substring(p.bound from 'TO \(''([^'']+)''\)')::timestamptz, p.bound = 'DEFAULT',
           greatest(coalesce((select s.n_live_tup from pg_stat_user_tables s where s.relid = p.oid), 0), p.reltuples::bigint, 0),
           pg_total_relation_size(p.oid), coalesce(substring(obj_description(p.oid, 'pg_class') from '^held by .*'), '')
    from (select c.oid, c.relname, c.reltuples, pg_get_expr(c.relpartbound, c.oid) as bound
          from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = to_regclass('core.outbox') and c.relispartition) p
    order by p.bound = 'DEFAULT', 4, 2
$$;

-- An id that another month has is not published again: nothing happens, as with ON CONFLICT DO NOTHING. Within the month the
-- primary key says the same, and raises an error for who does not ask for that. One index probe per partition. A batch of
-- publish.sql has checked all its ids at once, which takes a tenth of the time, and says so by the setting.
create function core.outbox_once() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
    if exists (select from core.outbox o where o.id = new.id and o.tableoid <> tg_relid) then
        return null;
    end if;
    return new;
end
$$;

-- What `sluice ladder partition` cannot take along, one sentence each: it would stay with the oldest partition without a word.
create function core.partition_obstacles() returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select 'table ' || c.conrelid::regclass || ' has a foreign key to core.outbox (' || c.conname || '): drop it first, partitions have no key that it could refer to'
    from pg_constraint c where c.contype = 'f' and c.confrelid = 'core.outbox'::regclass
    union all
    select distinct 'view ' || r.ev_class::regclass || ' reads core.outbox and would go on reading the oldest partition alone: drop it, and create it again afterwards'
    from pg_depend d join pg_rewrite r on r.oid = d.objid
    where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = 'core.outbox'::regclass
      and r.ev_class <> 'core.outbox'::regclass
    union all
    select 'publication ' || p.pubname || ' names core.outbox: take it out first, and add it again afterwards'
    from pg_publication_rel r join pg_publication p on p.oid = r.prpubid where r.prrelid = 'core.outbox'::regclass
    union all
    select 'core.outbox has the row security policy ' || p.polname || ': drop it first, and create it again afterwards'
    from pg_policy p where p.polrelid = 'core.outbox'::regclass
    union all
    select 'index ' || i.indexrelid::regclass || ' is unique without occurred_at, which a partitioned table does not allow: drop it first'
    from pg_index i where i.indrelid = 'core.outbox'::regclass and i.indisunique and not i.indisprimary
    union all
    select 'table core.' || c.relname || ' inherits from core.outbox: end that first'
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'core.outbox'::regclass
$$;

-- The statements that make functions again whose arguments or variables have the row type of core.outbox: it is that of the old
-- table, in what sessions have compiled of them too. With their owners and rights.
create function core.partition_functions(p_old text) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    c_table constant oid := 'core.outbox'::regclass;
    v_row record;
begin
    -- Bodies may name functions that come later.
    return next 'set local check_function_bodies = off';
    for v_row in
        select p.oid, p.proacl, p.proowner::regrole as owner, pg_get_functiondef(p.oid) as definition, t.reltype = any (p.proargtypes::oid[]) as takes_row
        from pg_proc p cross join pg_class t
        where t.oid = c_table and p.pronamespace = 'core'::regnamespace and p.prokind = 'f'
          and (t.reltype = any (p.proargtypes::oid[]) or p.prosrc ~ ' core\.outbox;')
        order by p.proname, p.oid
    loop
        if v_row.takes_row then
            return next format('drop function %s', regexp_replace(v_row.oid::regprocedure::text, 'core\.outbox(?=[,)])', 'core.' || p_old, 'g'));
        end if;
        return next v_row.definition;
        if v_row.takes_row then
            return next format('alter function %s owner to %s', v_row.oid::regprocedure, v_row.owner);
            if v_row.proacl is not null then
                return next format('revoke all on function %s from public', v_row.oid::regprocedure);
                return query
                select format('grant execute on function %s to %s', v_row.oid::regprocedure,
                              case when a.grantee = 0 then 'public' else a.grantee::regrole::text end)
                from aclexplode(v_row.proacl) a order by 1;
            end if;
        end if;
    end loop;
end
$$;

-- The statements that turn the plain table into partitions, in order; they run in one transaction that holds core.outbox
-- exclusively. The old table becomes the partition of all that occurred before p_boundary, which its constraint outbox_month
-- has shown to hold. What belongs to a table goes along: its indexes, triggers, rights, comment, settings. See also
-- core.partition_functions.
create function core.partition_script(p_boundary timestamptz, p_ahead int) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
as $$
declare
    c_table constant oid := 'core.outbox'::regclass;
    v_old     text := 'outbox_until_' || to_char(p_boundary, 'YYYY_MM');
    v_row     record;
begin
    for v_row in select t.tgname from pg_trigger t where t.tgrelid = c_table and not t.tgisinternal order by 1 loop
        return next format('drop trigger %I on core.outbox', v_row.tgname);
    end loop;
    return next format('alter table core.outbox rename to %I', v_old);
    for v_row in select i.relname from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c_table order by 1 loop
        return next format('alter index core.%I rename to %I', v_row.relname, v_old || '_' || regexp_replace(v_row.relname, '^outbox_', ''));
    end loop;

    return next format('create table core.outbox (like core.%I including all excluding indexes) partition by range (occurred_at)', v_old);
    return next 'alter table core.outbox drop constraint outbox_month';
    return next format('alter table core.outbox owner to %I', (select c.relowner::regrole from pg_class c where c.oid = c_table));
    return next format('comment on table core.outbox is %L', obj_description(c_table, 'pg_class'));
    for v_row in select pg_get_indexdef(x.indexrelid) as definition from pg_index x where x.indrelid = c_table and not x.indisunique
                 order by x.indexrelid loop
        return next v_row.definition;
    end loop;
    return next format('alter table core.outbox attach partition core.%I for values from (minvalue) to (%L)', v_old, p_boundary);
    return next format('alter table core.%I drop constraint outbox_month', v_old);
    return next 'alter table core.outbox attach partition core.outbox_default default';
    for v_month in 0 .. p_ahead - 1 loop
        return next format('select core.partition_add(%L, %L)', p_boundary + make_interval(months => v_month),
                           p_boundary + make_interval(months => v_month + 1));
    end loop;

    for v_row in select t.tgname, t.tgenabled, pg_get_triggerdef(t.oid) as definition from pg_trigger t
                 where t.tgrelid = c_table and not t.tgisinternal order by 1 loop
        return next v_row.definition;
        if v_row.tgenabled <> 'O' then
            return next format('alter table core.outbox %s trigger %I',
                               case v_row.tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'disable' end, v_row.tgname);
        end if;
    end loop;
    return next 'create trigger outbox_once before insert on core.outbox for each row'
                ' when (current_setting(''sluice.ids_checked'', true) is distinct from statement_timestamp()::text)'
                ' execute function core.outbox_once()';

    for v_row in
        select null::name as attname, a.* from pg_class c, aclexplode(c.relacl) a where c.oid = c_table
        union all
        select t.attname, a.* from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c_table
        order by 1, 3, 4
    loop
        return next format('grant %s%s on core.outbox to %s%s', v_row.privilege_type, ' (' || quote_ident(v_row.attname) || ')',
                           case when v_row.grantee = 0 then 'public' else v_row.grantee::regrole::text end,
                           case when v_row.is_grantable then ' with grant option' else '' end);
    end loop;

    return query select f from core.partition_functions(v_old) as f;
end
$$;

-- Makes a table that can become a partition, unless it is there: like core.outbox, with its own key, its indexes and settings. The
-- indexes are made in the order of those of core.outbox: of two that look equally cheap, as all do in an empty table, the planner
-- takes the older one, and a plan is kept while the month fills up.
create function core.partition_prepare(p_name text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
    v_index record;
begin
    if to_regclass('core.' || quote_ident(p_name)) is null then
        execute format('create table core.%I (like core.outbox including all excluding indexes) with (%s)', p_name,
                       (select array_to_string(c.reloptions, ', ') from pg_class c
                        where c.oid = coalesce(to_regclass('core.outbox_default'), to_regclass('core.outbox'))));
        execute format('alter table core.%I drop constraint if exists outbox_month', p_name);
        execute format('alter table core.%I add constraint %I primary key (id)', p_name, p_name || '_pkey');
        for v_index in
            select regexp_replace(i.relname, '^outbox_', '') as name, pg_get_indexdef(x.indexrelid) as definition
            from pg_index x join pg_class i on i.oid = x.indexrelid
            where x.indrelid = 'core.outbox'::regclass and not x.indisunique order by x.indexrelid
        loop
            execute regexp_replace(v_index.definition, ' INDEX .*? ON (ONLY )?core\.outbox ',
                                   format(' INDEX %I ON core.%I ', p_name || '_' || v_index.name, p_name));
        end loop;
    elsif (select c.relispartition or c.relkind <> 'r' from pg_class c where c.oid = to_regclass('core.' || quote_ident(p_name))) then
        raise exception 'core.% is there already and cannot become a partition of core.outbox: rename it', p_name using errcode = 'SL409';
    end if;
end
$$;

-- Makes the partition of a time, and takes the events of that time out of the default one.
create function core.partition_add(p_from timestamptz, p_to timestamptz) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
as $$
declare
    v_name  text := 'outbox_' || to_char(p_from, 'YYYY_MM');
    v_moved bigint := 0;
begin
    perform core.partition_prepare(v_name);
    -- Nobody writes to it meanwhile, so nobody misses the move. Without the triggers: nothing happens to an event that moves.
    lock table core.outbox_default in access exclusive mode;
    if exists (select from core.outbox_default d where d.occurred_at >= p_from and d.occurred_at < p_to) then
        alter table core.outbox_default disable trigger user;
        execute format('with moved as (delete from core.outbox_default d where d.occurred_at >= %L and d.occurred_at < %L returning d.*)'
                       ' insert into core.%I select * from moved', p_from, p_to, v_name);
        get diagnostics v_moved = row_count;
        alter table core.outbox_default enable trigger user;
    end if;
    execute format('alter table core.outbox attach partition core.%I for values from (%L) to (%L)', v_name, p_from, p_to);
    return v_moved;
end
$$;

-- What holds a partition: null when all that is in it has been kept for long enough. The first answers come from indexes, so that
-- the last, which reads the whole partition (p_whole), is asked about few. Dead letters hold their month until the sweep, which
-- takes them one by one, has taken the last.
create function core.partition_held(p_leaf oid, p_active interval, p_grace interval, p_whole boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held text;
begin
    -- Index outbox_dead.
    execute format('select count(*) from (select from %s o where o.failed_at is not null and o.deleted_at is null limit 1000) d', p_leaf::regclass)
    into v_held;
    if v_held <> '0' then
        return v_held || case v_held when '1' then ' dead letter' else ' dead letters' end;
    end if;
    -- Indexes outbox_age and outbox_tombstones.
    execute format('select case when exists (select from %1$s o where o.deleted_at is null and o.published_at is not null'
                   ' and greatest(o.published_at, o.failed_at, o.restored_at) > now() - $1)'
                   ' or exists (select from %1$s o where o.deleted_at > now() - $2) then ''events that are not old enough'' end', p_leaf::regclass)
    into v_held using p_active + p_grace, p_grace;
    if v_held is null and p_whole then
        execute format('select case when o.status in (''pending'', ''in_flight'') then o.status || '' events'' else ''events that are not old enough'' end'
                       ' from %s o where o.status in (''pending'', ''in_flight'') or o.delivered_at > now() - $1 limit 1', p_leaf::regclass)
        into v_held using p_active + p_grace;
    end if;
    return v_held;
end
$$;

-- The first month that needs a partition and has none: this one, the next p_ahead, and those of events in the default partition.
create function core.partition_missing(p_ahead int) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
    c_last constant timestamptz := date_trunc('month', now()) + make_interval(months => p_ahead);
begin
    return (
        select w.month
        from (select generate_series(date_trunc('month', now()), c_last, interval '1 month') as month
              union
              -- A name has room for these years, and who writes another means nothing by it.
              (select date_trunc('month', d.occurred_at) from core.outbox_default d
               where d.occurred_at >= '1970-01-01' and d.occurred_at < now() + interval '10 years'
               order by d.occurred_at limit 1)) w
        where not exists (select from core.partitions() p
                          where not p.is_default and coalesce(p.since, '-infinity') < w.month + interval '1 month' and p.until > w.month)
        order by 1 limit 1);
end
$$;

-- The oldest partition that nothing holds. One that was read through in vain says so in its comment, and rests for a day.
create function core.partition_droppable(p_active interval, p_grace interval, p_dry_run boolean)
returns table (leaf oid, name text, rows bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
#variable_conflict use_column
declare
    v_leaf record;
    v_held text;
begin
    for v_leaf in
        select p.* from core.partitions() p where not p.is_default and p.until < now() - p_active - p_grace
    loop
        continue when substring(v_leaf.note from '^held by .* at (.*)$')::timestamptz > now() - interval '1 day'
            or core.partition_held(v_leaf.leaf, p_active, p_grace, false) is not null;
        v_held := core.partition_held(v_leaf.leaf, p_active, p_grace, true);
        if v_held is null then
            return query select v_leaf.leaf, v_leaf.name, v_leaf.rows;
            return;
        elsif not p_dry_run then
            execute format('comment on table core.%I is %L', v_leaf.name, 'held by ' || v_held || ' at ' || to_char(now(), 'YYYY-MM-DD HH24:MI:SS+00'));
        end if;
    end loop;
end
$$;

-- One thing that the partitions need now, or nothing: `created` a month ahead, or one that events in the default partition belong
-- to (count: how many it took out of it); `dropped` the oldest one, all of which has been kept for p_active + p_grace (count: how
-- many events went with it). Each is audited. Waits a moment for a lock, then gives up with 55P03: the next call tries again.
-- Owned by who owns the table, which `sluice db grant` leaves so: nobody else may make and drop partitions.
create function core.partition_upkeep(p_active interval, p_grace interval, p_handled_active interval, p_handled_grace interval,
                                      p_ahead int, p_dry_run boolean, p_actor text, p_surface text, p_reason text)
returns table (action text, name text, count bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
set lock_timeout = '100ms'
as $$
#variable_conflict use_column
declare
    v_from timestamptz;
    v_leaf record;
begin
    perform core.retention_check(p_active, p_grace, p_handled_active, p_handled_grace);
    if not core.outbox_partitioned() then
        -- `sluice ladder partition` was begun and left: its constraint would refuse what occurs from its month on.
        if not p_dry_run and core.partition_boundary() < now() + interval '2 days' then
            alter table core.outbox drop constraint outbox_month;
            action := 'abandoned';
            name := 'outbox';
            count := 0;
            insert into core.audit (actor, surface, action, count, reason, detail)
            values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'partition.abandoned', 0, coalesce(p_reason, ''), '{}');
            return next;
        end if;
        return;
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('sluice.partitions', 0)) then
        return;
    end if;
    v_from := core.partition_missing(p_ahead);
    if v_from is not null then
        action := 'created';
        name := 'outbox_' || to_char(v_from, 'YYYY_MM');
        count := case when p_dry_run then 0 else core.partition_add(v_from, v_from + interval '1 month') end;
    else
        select d.leaf, d.name, d.rows into v_leaf from core.partition_droppable(p_active, p_grace, p_dry_run) d;
        if not found then
            return;
        end if;
        action := 'dropped';
        name := v_leaf.name;
        count := v_leaf.rows;
        if not p_dry_run then
            -- Whatever came between the check and the lock shows in the indexes that are asked first; the rest cannot change.
            lock table core.outbox in access exclusive mode;
            if core.partition_held(v_leaf.leaf, p_active, p_grace, false) is not null then
                return;
            end if;
            execute format('alter table core.outbox detach partition core.%I', v_leaf.name);
            execute format('drop table core.%I', v_leaf.name);
        end if;
    end if;
    if not p_dry_run then
        insert into core.audit (actor, surface, action, count, reason, detail)
        values (coalesce(nullif(p_actor, ''), 'sql-direct'), p_surface, 'partition.' || action, count, coalesce(p_reason, ''),
                jsonb_build_object('partition', name));
    end if;
    return next;
end
$$;

revoke all on function core.outbox_partitioned(), core.partition_boundary(), core.partitions(), core.outbox_once(), core.partition_obstacles(),
    core.partition_script(timestamptz, int), core.partition_functions(text), core.partition_missing(int), core.partition_droppable(interval, interval, boolean),
    core.partition_prepare(text), core.partition_add(timestamptz, timestamptz),
    core.partition_held(oid, interval, interval, boolean),
    core.partition_upkeep(interval, interval, interval, interval, int, boolean, text, text, text) from public;
