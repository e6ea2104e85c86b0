-- Indexes outbox_waiting and outbox_scan; see core.outbox_claim. The payload is written as text once, and left out where it is
-- larger than a worker can hold.
select batch, tid, id, seq, claim_seq, attempts, event_type, event_version, occurred_at, source, target, workspace_id,
       case when octet_length(written) <= 67108864 then written end, idempotency_key, trace_context, channel, ordering_key,
       claimed_at, progress, waited, head, top, due_age
from (
    select c.*, c.payload::text as written
    from core.outbox_claim($1::bigint, $2::text, $3::int, $4::interval, $5::bigint, $6::bigint, $7::text[], $8::text[], $9::text[],
                           $10::boolean, $11::bigint[], $12::interval) as c
    offset 0) as c
