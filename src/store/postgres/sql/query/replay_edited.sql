-- Replays a dead letter with another payload; the history keeps the one before. Index outbox_pkey.
select (r ->> 'cycle')::int, (r ->> 'attempts')::int, (r ->> 'from_generation')::bigint
from core.outbox_replay_edited($1::uuid, $2::jsonb, $3::bigint, $4::bigint, $5::text, $6::text, $7::text) as r
