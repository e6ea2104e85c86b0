-- A page of events, newest first. Generations are few: each is read backwards on outbox_scan, then the
-- pages are merged.
with recursive generations as (
    (select generation from core.outbox order by generation limit 1)
    union all
    select (select o.generation from core.outbox o where o.generation > g.generation order by o.generation limit 1)
    from generations g
    where g.generation is not null
)
select e.id, e.seq, event_type, event_version, occurred_at, source, target, workspace_id, case when $18::boolean then 'null' else core.payload_text(payload, 67108864) end, idempotency_key, trace_context,
       content_class, channel, e.generation, status, attempts, last_error, failure_class, fingerprint, first_failed_at,
       failure_history, claimed_at, claimed_by, claim_seq, retry_after, ordering_key, published_at, delivered_at, failed_at, deleted_at, progress
from generations g
cross join lateral (
    select *
    from core.outbox o
    where o.generation = g.generation
      and ($1::bigint is null or o.seq < $1)
      and ($2::text is null or o.status = $2)
      and ($3::boolean or o.deleted_at is null)
      and ($4::text is null or o.event_type = $4)
      and ($5::text is null or starts_with(o.event_type, $5))
      and ($6::text is null or o.source = $6)
      and ($7::text is null or o.target = $7)
      and ($9::uuid is null or o.workspace_id = $9)
      and ($10::timestamptz is null or o.occurred_at >= $10)
      and ($11::timestamptz is null or o.occurred_at < $11)
      and ($13::uuid is null or o.id = $13)
      and ($14::text is null or lower(o.failure_class) in (lower($14), lower($14) || 'error'))
      and ($15::text is null or o.fingerprint = $15)
      and ($16::text is null or o.ordering_key = $16)
      and ($17::text is null or strpos(lower(o.last_error), lower($17)) > 0)
    order by o.seq desc
    limit $12::int) e
where $8::bigint is null or g.generation = $8
order by e.seq desc
limit $12::int
