-- The record of the migrations; older than any of them.
create table if not exists sluice_migrations (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at text not null
) strict
