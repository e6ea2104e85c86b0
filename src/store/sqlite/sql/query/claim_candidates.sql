-- What a claim takes: fresh events in insert order (outbox_fresh) and retried, replayed or delayed ones
-- in due order (outbox_due), merged by the time since when they have been due, so that neither kind
-- starves the other. At most one event per ordering key is unblocked.
with candidate (seq, due) as (
  select seq, due from (
    select seq, published_at as due
    from outbox
    where status = 'pending' and retry_after is null
      and generation = :generation and key_blocked = 0
      and (:contexts is null or target is null or target in (select value from json_each(:contexts)))
      and (:channels is null or channel in (select value from json_each(:channels)))
    order by seq
    limit :limit)
  union all
  select seq, due from (
    select seq, retry_after as due
    from outbox
    where status = 'pending' and retry_after is not null
      and generation = :generation and key_blocked = 0
      and retry_after <= :now
      and (:contexts is null or target is null or target in (select value from json_each(:contexts)))
      and (:channels is null or channel in (select value from json_each(:channels)))
    order by retry_after, seq
    limit :limit)
  order by 2, 1
  limit :limit)
select outbox.seq, claim_seq, attempts, channel, ordering_key,
       id, event_type, event_version, occurred_at, source, target, workspace_id, payload, idempotency_key, trace_context
from candidate join outbox on outbox.seq = candidate.seq
order by candidate.due, outbox.seq
