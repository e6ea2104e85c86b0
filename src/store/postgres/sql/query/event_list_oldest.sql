-- A page of events, oldest first; as event_list, forwards on outbox_scan.
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
      and ($1::bigint is null or o.seq > $1)
      {{event_filter}}
    order by o.seq
    limit $12::int) e
where $8::bigint is null or g.generation = $8
order by e.seq
limit $12::int
