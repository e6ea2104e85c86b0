-- The newest migration that was applied.
select coalesce(max(version), 0) from core.sluice_migrations
