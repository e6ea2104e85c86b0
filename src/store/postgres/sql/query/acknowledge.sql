-- Nothing but acknowledgements, the common settle; returns the ids that were fenced, or the batches that are forgotten.
select fenced, forgotten
from core.outbox_acknowledge($1::tid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint, $7::boolean)
