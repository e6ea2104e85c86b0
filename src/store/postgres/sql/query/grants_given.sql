-- Whether `sluice db grant` has been run on this database.
select case when to_regrole('sluice_worker') is null then false else has_schema_privilege('sluice_worker', 'core', 'usage') end
