-- How many groups have this fingerprint (failure_groups_kind).
select count(*) from failure_groups where fingerprint = :fingerprint
