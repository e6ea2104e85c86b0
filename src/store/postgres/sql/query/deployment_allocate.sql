-- Takes the wanted generation or the next free one.
select generation, state, note, changed_by, allocated_at, activated_at, draining_at, retired_at
from core.generation_allocate($1::bigint, $2::text, $3::text, $4::text, $5::text)
