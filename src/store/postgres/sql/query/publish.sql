-- Publishes a batch, in the order of the arrays. Returns the ids that were new.
-- Relies on outbox_pkey for the conflict; without a target, because the months of a partitioned table have a key each. What
-- another month has is asked for all ids together, and not once more by the trigger outbox_once.
-- The arrays come from a subquery of their own, so that the planner does not see how long they are: a plan for just these would
-- look cheaper than one for any, and it would make one for every call, which was half the cost of a single event.
with known as materialized (
    select array(select o.id from core.outbox o where o.id = any ((select $1::uuid[])::uuid[])) as ids,
           set_config('sluice.ids_checked', statement_timestamp()::text, true)
    where case when core.outbox_partitioned()
               then cardinality($1::uuid[]) = (select count(distinct i.id) from unnest($1::uuid[]) as i(id)) end)
insert into core.outbox (id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
                         workspace_id, payload, idempotency_key, trace_context, ordering_key, retry_after)
select e.id, e.event_type, e.event_version, e.occurred_at, e.source, e.target, e.content_class, e.channel, e.generation,
       e.workspace_id, e.payload, e.idempotency_key, e.trace_context, e.ordering_key, coalesce(now() + e.delay, e.not_before)
from (select $1::uuid[] as c1, $2::text[] as c2, $3::int[] as c3, $4::timestamptz[] as c4, $5::text[] as c5, $6::text[] as c6,
             $7::text[] as c7, $8::text[] as c8, $9::bigint[] as c9, $10::uuid[] as c10, $11::jsonb[] as c11, $12::text[] as c12,
             $13::text[] as c13, $14::text[] as c14, $15::interval[] as c15, $16::timestamptz[] as c16
      offset 0) c,
     unnest(c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16)
    as e(id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
         workspace_id, payload, idempotency_key, trace_context, ordering_key, delay, not_before)
where e.id <> all (coalesce((select k.ids from known k), '{}'))
on conflict do nothing
returning id
