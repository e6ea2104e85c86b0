-- Nothing but acknowledgements, the common settle; returns the ids that were fenced.
select fenced from core.outbox_acknowledge($1::tid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint, $6::boolean) as fenced
