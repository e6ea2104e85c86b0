-- Writes what failed into the history and makes the event pending again. Index outbox_pkey.
select (r ->> 'cycle')::int, (r ->> 'attempts')::int, (r ->> 'from_generation')::bigint
from core.outbox_replay_as($1::uuid, $2::bigint, $3::text, $4::text, $5::text) as r
