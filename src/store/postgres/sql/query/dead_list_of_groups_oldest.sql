-- A page of dead letters of some groups, oldest first. Index outbox_dead_groups: a page of each
-- kind, then the pages are merged.
select e.id, e.seq, e.event_type, e.event_version, e.occurred_at, e.source, e.target, e.workspace_id, case when $5::boolean then 'null' else core.payload_text(e.payload, 67108864) end, e.idempotency_key,
       e.trace_context, e.content_class, e.channel, e.generation, e.status, e.attempts, e.last_error, e.failure_class,
       e.fingerprint, e.first_failed_at, e.failure_history, e.claimed_at, e.claimed_by, e.claim_seq, e.retry_after, e.ordering_key,
       e.published_at, e.delivered_at, e.failed_at, e.deleted_at, e.progress
from core.failure_groups c
cross join lateral (
    select *
    from core.outbox o
    where o.group_id = c.id and o.failed_at is not null and o.deleted_at is null
      and (o.failed_at, o.seq) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::bigint, 0))
      and core.dead_matches(o, $1::jsonb)
    order by o.failed_at, o.seq
    limit $4::int) e
where core.group_matches(c, $1::jsonb)
order by e.failed_at, e.seq
limit $4::int
