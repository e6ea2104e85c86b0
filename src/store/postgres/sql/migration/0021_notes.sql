-- Notes on a group of failures: records of the audit, which nobody can edit, found by the fingerprint together with who
-- acknowledged the group and when.
--
-- For the operator: the index reads core.audit once and holds back its writers meanwhile, about a second per million
-- records; it holds only the few that are about groups.

create index audit_group on core.audit ((detail ->> 'fingerprint'), id)
    where action in ('note', 'acknowledge', 'unacknowledge');

-- Adds a note to every group with this fingerprint; returns how many there are.
create function core.failure_note(p_fingerprint text, p_actor text, p_surface text, p_note text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_groups bigint;
begin
    if coalesce(p_note, '') = '' then
        raise exception 'note: say something' using errcode = 'SL422';
    end if;
    select count(*) into v_groups from core.failure_groups c where c.fingerprint = p_fingerprint;
    if v_groups = 0 then
        raise exception 'nothing has failed with the fingerprint %', p_fingerprint using errcode = 'SL404';
    end if;
    insert into core.audit (actor, surface, action, count, reason, detail)
    values (p_actor, p_surface, 'note', v_groups, p_note, jsonb_build_object('fingerprint', p_fingerprint));
    return v_groups;
end
$$;

revoke all on function core.failure_note(text, text, text, text) from public;
