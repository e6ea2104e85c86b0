-- One bounded batch of retention; see core.outbox_sweep.
select tombstoned, deleted, failed, handled, more
from core.outbox_sweep($1::interval, $2::interval, $3::interval, $4::interval, $5::int, $6::boolean, $7::text, $8::text, $9::text)
