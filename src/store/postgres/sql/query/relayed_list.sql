-- How far relayed events have come at their consumers, and which replay this is. Index outbox_pkey.
select o.id, coalesce((o.failure_history -> -1 ->> 'cycle')::bigint, 0), coalesce(o.progress::text, ''),
       (o.failure_history -> -1 ->> 'replayed_at')::timestamptz
from core.outbox o
where o.id = any ($1::uuid[])
