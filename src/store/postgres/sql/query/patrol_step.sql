-- One bounded step of the patrol; see core.patrol_step. At least one row; its id is null when nothing was healed.
select held, round_over, rows, id, cause
from core.patrol_step($1::text, $2::interval, $3::interval, $4::interval, $5::int)
