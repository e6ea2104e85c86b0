-- The fingerprints that begin with $1, at most $2. Reads all groups, which are few.
select distinct fingerprint
from core.failure_groups
where starts_with(fingerprint, $1::text)
order by fingerprint
limit $2::int
