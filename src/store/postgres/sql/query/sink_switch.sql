-- Pauses, disables or resumes a sink, audited.
select name, kind, target, array_to_json(handlers)::text, state, changed_at, changed_by, reason, opened_at, open_until,
       open_reason, declared_at
from core.sink_switch($1::text, $2::text, $3::text, $4::text, $5::text)
