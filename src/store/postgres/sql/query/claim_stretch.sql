-- A stretch of new events in one pass. Indexes outbox_waiting and outbox_scan; see core.outbox_claim_stretch. The payload as in
-- claim.
select batch, tid, id, seq, claim_seq, attempts, event_type, event_version, occurred_at, source, target, workspace_id,
       case when octet_length(written) <= 67108864 then written end, idempotency_key, trace_context, channel, ordering_key,
       claimed_at, progress, false
from (
    select c.*, c.payload::text as written
    from core.outbox_claim_stretch($1::bigint, $2::text, $3::interval, $4::bigint, $5::bigint, $6::text[], $7::text[], $8::text[], $9::interval) as c
    offset 0) as c
