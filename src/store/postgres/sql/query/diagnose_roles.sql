-- The roles of `sluice db grant` that exist, and which of them the current user has; the first row says whether
-- the current user owns the schema.
select 'owner', coalesce((select pg_has_role(n.nspowner, 'usage') from pg_namespace n where n.nspname = 'core'), false)
union all
select r.rolname::text, pg_has_role(r.oid, 'usage')
from pg_roles r
where r.rolname in ('sluice_publisher', 'sluice_worker', 'sluice_operator', 'sluice_reader')
