-- The fingerprints that begin with a prefix, up to a limit. Reads all groups, which are few.
select distinct fingerprint
from failure_groups
where substr(fingerprint, 1, length(:prefix)) = :prefix
order by fingerprint
limit :limit
