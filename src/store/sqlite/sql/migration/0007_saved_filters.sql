-- Filters with names, which everybody who uses the store shares.
--
-- For the operator: one new table, in one transaction.

create table saved_filters (
  name     text not null primary key,
  filter   text not null,
  saved_by text not null,
  saved_at text not null
) strict, without rowid;
