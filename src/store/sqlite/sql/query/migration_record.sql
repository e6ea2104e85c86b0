-- One migration is done; same transaction as the migration.
insert into sluice_migrations (version, name, checksum, applied_at) values (:version, :name, :checksum, :now)
