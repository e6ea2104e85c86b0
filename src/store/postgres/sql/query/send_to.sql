-- Sends a dead letter or a delivered event to one handler again. Index outbox_pkey.
select (r ->> 'cycle')::int, (r ->> 'attempts')::int, (r ->> 'from_generation')::bigint
from core.outbox_send_to($1::uuid, $2::text, $3::text, $4::bigint, $5::text, $6::text, $7::text) as r
