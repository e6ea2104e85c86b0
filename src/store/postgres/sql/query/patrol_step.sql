-- One bounded step of the patrol; see core.patrol_step. What was healed comes first; the last row, without an id, tells what the step did.
select held, round_over, rows, id, cause
from core.patrol_step($1::text, $2::interval, $3::interval, $4::interval, $5::int)
