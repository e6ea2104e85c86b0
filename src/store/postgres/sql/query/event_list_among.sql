-- A page of the events with the numbers $22 in the generations $21, newest first, or oldest first ($23): where it is known which can match at all.
-- Index outbox_scan, once per number.
select o.id, o.seq, event_type, event_version, occurred_at, source, target, workspace_id, case when $18::boolean then 'null' else core.payload_text(payload, 67108864) end, idempotency_key, trace_context,
       content_class, channel, o.generation, status, attempts, last_error, failure_class, fingerprint, first_failed_at,
       failure_history, claimed_at, claimed_by, claim_seq, retry_after, ordering_key, published_at, delivered_at, failed_at, deleted_at, progress
from (select distinct n.generation, n.seq from unnest($21::bigint[], $22::bigint[]) as n(generation, seq)) n
join core.outbox o on o.generation = n.generation and o.seq = n.seq
where ($1::bigint is null or case when $23::boolean then o.seq > $1 else o.seq < $1 end)
      {{event_filter}}
  and ($8::bigint is null or o.generation = $8)
order by case when $23::boolean then o.seq end, o.seq desc
limit $12::int
