-- Filters with names, which everybody who uses the store shares. A new table and its functions: runs in milliseconds.

create table core.saved_filters (
    name     text        primary key,
    filter   text        not null,
    saved_by text        not null,
    saved_at timestamptz not null default now()
);
comment on table core.saved_filters is 'Filters that the team keeps under a name; changes are in core.audit';

create function core.filter_save(p_name text, p_filter text, p_actor text, p_surface text, p_reason text) returns core.saved_filters
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_saved core.saved_filters;
begin
    if coalesce(p_name, '') = '' or coalesce(p_filter, '') = '' then
        raise exception 'a saved filter needs a name and a filter' using errcode = 'SL422';
    end if;
    insert into core.saved_filters as f (name, filter, saved_by) values (p_name, p_filter, p_actor)
    on conflict (name) do update set filter = excluded.filter, saved_by = excluded.saved_by, saved_at = now()
    returning f.* into v_saved;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, 'filter.save', 1, coalesce(p_reason, ''), jsonb_build_object('name', p_name, 'filter', p_filter));
    return v_saved;
end
$$;

create function core.filter_remove(p_name text, p_actor text, p_surface text, p_reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_filter text;
begin
    delete from core.saved_filters f where f.name = p_name returning f.filter into v_filter;
    if v_filter is null then
        raise exception 'no filter is saved as %', p_name using errcode = 'SL404';
    end if;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, 'filter.remove', 1, coalesce(p_reason, ''), jsonb_build_object('name', p_name, 'filter', v_filter));
end
$$;

revoke all on function core.filter_save(text, text, text, text, text), core.filter_remove(text, text, text, text) from public;
