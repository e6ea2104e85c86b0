-- Publishes a batch, in the order of the arrays. Returns the ids that were new.
-- Relies on outbox_pkey for the conflict; without a target, because the months of a partitioned table have a key each. What
-- another month has is asked for all ids together, and not once more by the trigger outbox_once.
-- The subquery hides from the planner how many ids there are: a plan for one looked cheaper than one for any number, so it made
-- a plan for every call, which was half the cost of a single event.
with known as materialized (
    select array(select o.id from core.outbox o where o.id = any ((select $1::uuid[])::uuid[])) as ids,
           set_config('sluice.ids_checked', statement_timestamp()::text, true)
    where case when core.outbox_partitioned()
               then cardinality($1::uuid[]) = (select count(distinct i.id) from unnest($1::uuid[]) as i(id)) end)
insert into core.outbox (id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
                         workspace_id, payload, idempotency_key, trace_context, ordering_key, retry_after)
select e.id, e.event_type, e.event_version, e.occurred_at, e.source, e.target, e.content_class, e.channel, e.generation,
       e.workspace_id, e.payload, e.idempotency_key, e.trace_context, e.ordering_key, coalesce(now() + e.delay, e.not_before)
from unnest($1::uuid[], $2::text[], $3::int[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[],
            $9::bigint[], $10::uuid[], $11::jsonb[], $12::text[], $13::text[], $14::text[], $15::interval[],
            $16::timestamptz[])
    as e(id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
         workspace_id, payload, idempotency_key, trace_context, ordering_key, delay, not_before)
where e.id <> all (coalesce((select k.ids from known k), '{}'))
on conflict do nothing
returning id
