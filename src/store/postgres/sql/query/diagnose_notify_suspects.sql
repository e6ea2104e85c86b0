-- Sessions that may hold back the NOTIFY queue: it shrinks only as far as every listening session has read, and a
-- session reads nothing while it is in a transaction. The server does not tell who listens, so those that look
-- like listeners come first, then the oldest transactions. The queue is one for all databases.
select a.pid, coalesce(a.application_name, ''), coalesce(a.usename::text, ''), coalesce(a.state, ''),
       (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint, left(coalesce(a.query, ''), 120)
from pg_stat_activity a
where a.backend_type = 'client backend' and a.xact_start is not null and a.pid <> pg_backend_pid()
order by a.query ~* '^\s*listen\s' or a.application_name ~* 'listen' desc, a.xact_start
limit 5
