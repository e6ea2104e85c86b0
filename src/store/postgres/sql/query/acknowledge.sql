-- Nothing but acknowledgements, the common settle; returns the ids that were fenced, the batches that are forgotten, or
-- what waited for the keys that are free now.
select fenced, forgotten, next_generation, next_seq
from core.outbox_acknowledge($1::tid[], $2::timestamptz, $3::timestamptz, $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint,
                             $9::boolean)
