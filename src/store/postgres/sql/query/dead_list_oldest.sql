-- A page of dead letters, oldest failure first. Index outbox_dead.
select id, seq, event_type, event_version, occurred_at, source, target, workspace_id, case when $5::boolean then 'null' else core.payload_text(payload, 67108864) end, idempotency_key, trace_context,
       content_class, channel, generation, status, attempts, last_error, failure_class, fingerprint, first_failed_at,
       failure_history, claimed_at, claimed_by, claim_seq, retry_after, ordering_key, published_at, delivered_at, failed_at, deleted_at, progress
from core.outbox o
where o.failed_at is not null and o.deleted_at is null
  and (o.failed_at, o.seq) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::bigint, 0))
  and core.dead_matches(o, $1::jsonb)
order by o.failed_at, o.seq
limit $4::int
