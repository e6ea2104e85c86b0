-- What a claim takes of the events that are retried, replayed or delayed: in due order (outbox_due). At most one event
-- per ordering key is unblocked; interests and lanes are answered by the index, and the row is read for what waits for
-- particular handlers.
with interest (event_type, prefix, context, channel) as materialized (
  select value ->> 'event_type', value ->> 'prefix', value ->> 'context', value ->> 'channel'
  from json_each(:interests))
select retry_after as due, seq, claim_seq, attempts, channel, ordering_key, progress,
       id, event_type, event_version, occurred_at, source, target, workspace_id, payload, idempotency_key, trace_context
from outbox
where status = 'pending' and deleted_at is null and retry_after is not null
  and generation = :generation and key_blocked = 0
  and retry_after <= :now
  and (:lanes is null or lane = '' or lane in (select value from json_each(:lanes)))
  and (:interests is null or exists (
    select 1 from interest
    where (interest.event_type = outbox.event_type
           or substr(outbox.event_type, 1, length(interest.prefix)) = interest.prefix)
      and (interest.context is null or outbox.target is null or interest.context = outbox.target)
      and (interest.channel is null or interest.channel = outbox.channel)))
  and (progress is null
    or exists (
      select 1 from json_each(progress) as handler
      where (:handlers is null or handler.value ->> 'handler' in (select value from json_each(:handlers)))
        and not coalesce(handler.value ->> 'exhausted', 0)
        and handler.value ->> 'due' <= :now)
    -- Nobody is left to try it: whoever takes it fails it.
    or not exists (
      select 1 from json_each(progress) as handler where not coalesce(handler.value ->> 'exhausted', 0)))
order by retry_after, seq
limit :limit
