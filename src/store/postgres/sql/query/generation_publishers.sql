-- The open transactions that may still publish into a draining generation.
select pid, gid, username, application, since
from core.generation_publishers($1::bigint)
