-- Moves a generation to another state.
select generation, state, note, changed_by, allocated_at, activated_at, draining_at, retired_at
from core.generation_move($1::bigint, $2::text, $3::text, $4::text, $5::text)
