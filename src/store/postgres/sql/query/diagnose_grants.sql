-- What a role of `sluice db grant` needs and lacks. What each role stands on is listed; besides, a function that
-- changes events must be open to one of the roles at least. Roles belong to the whole server: where none of them may
-- use the schema, they are for other databases.
with known as (
    select r.oid, r.rolname::text as name from pg_roles r
    where r.rolname in ('sluice_publisher', 'sluice_worker', 'sluice_operator', 'sluice_reader')),
roles as (
    select k.* from known k
    where exists (select from known u where has_schema_privilege(u.oid, to_regnamespace('core'), 'usage'))),
functions as (
    select p.oid, p.proname::text as name, p.prosecdef and p.prorettype <> 'trigger'::regtype as moves from pg_proc p
    where p.pronamespace = to_regnamespace('core')),
needed_functions(role, name) as (values
    ('sluice_publisher', 'outbox_publish'), ('sluice_worker', 'outbox_claim'), ('sluice_worker', 'outbox_settle'),
    ('sluice_worker', 'outbox_heartbeat'), ('sluice_worker', 'outbox_expired'), ('sluice_worker', 'sink_declare'),
    ('sluice_worker', 'token_secret'), ('sluice_operator', 'outbox_replay'),
    ('sluice_operator', 'outbox_replay_as'), ('sluice_operator', 'outbox_tombstone'), ('sluice_operator', 'generation_move')),
needed_tables(role, privilege, name) as (
    select 'sluice_publisher', 'insert', 'outbox'
    union all
    select r.name, 'select', t.name
    from unnest(array['outbox', 'event_handled', 'deployments', 'claims', 'audit', 'settings', 'subscriptions', 'workers', 'sinks']) as t(name),
         unnest(array['sluice_reader', 'sluice_worker', 'sluice_operator']) as r(name))
select r.name || ': usage of schema core' from roles r
where not has_schema_privilege(r.oid, to_regnamespace('core'), 'usage')
union all
select r.name || ': execute core.' || f.name from roles r
join needed_functions n on n.role = r.name join functions f on f.name = n.name
where not has_function_privilege(r.oid, f.oid, 'execute')
union all
select r.name || ': ' || n.privilege || ' on core.' || n.name from roles r
join needed_tables n on n.role = r.name
where not has_any_column_privilege(r.oid, to_regclass('core.' || n.name), n.privilege)
union all
select 'every role: execute core.' || f.name from functions f
where f.moves and exists (select from roles)
  and f.name not in (select n.name from needed_functions n)
  and not exists (select from roles r where has_function_privilege(r.oid, f.oid, 'execute'))
order by 1
limit 50
