-- The ledger of migrations, made together with the first of them.
create table core.sluice_migrations (
    version    int         primary key,
    name       text        not null,
    checksum   text        not null,
    applied_at timestamptz not null default now(),
    applied_by text        not null default session_user
);
