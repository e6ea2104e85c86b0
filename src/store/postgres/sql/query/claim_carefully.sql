-- As claim, for when a payload among them could not be written at all: core.payload_text gives up in time.
select batch, tid, id, seq, claim_seq, attempts, event_type, event_version, occurred_at, source, target, workspace_id,
       core.payload_text(payload, 67108864), idempotency_key, trace_context, channel, ordering_key, claimed_at, progress, waited, head,
       top, due_age
from core.outbox_claim($1::bigint, $2::text, $3::int, $4::interval, $5::bigint, $6::bigint, $7::text[], $8::text[], $9::text[],
                       $10::boolean, $11::bigint[], $12::interval)
