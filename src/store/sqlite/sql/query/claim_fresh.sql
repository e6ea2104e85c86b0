-- What a claim takes of the events that were never given back: in insert order, due since they were published
-- (outbox_fresh). At most one event per ordering key is unblocked; interests are answered by the index.
with interest (event_type, prefix, context, channel) as materialized (
  select value ->> 'event_type', value ->> 'prefix', value ->> 'context', value ->> 'channel'
  from json_each(:interests))
select published_at as due, seq, claim_seq, attempts, channel, ordering_key, progress,
       id, event_type, event_version, occurred_at, source, target, workspace_id, payload, idempotency_key, trace_context
from outbox
where status = 'pending' and deleted_at is null and retry_after is null
  and generation = :generation and key_blocked = 0
  and (:interests is null or exists (
    select 1 from interest
    where (interest.event_type = outbox.event_type
           or substr(outbox.event_type, 1, length(interest.prefix)) = interest.prefix)
      and (interest.context is null or outbox.target is null or interest.context = outbox.target)
      and (interest.channel is null or interest.channel = outbox.channel)))
order by seq
limit :limit
