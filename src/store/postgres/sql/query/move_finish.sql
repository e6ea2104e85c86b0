-- Everything was brought. Events in flight were cut off from their workers: their claims are over, for the reaper; the keys
-- of those that have one are taken until then. Workers read the subscriptions anew.
with claimed as (
    insert into core.claims (worker, generation, ttl, expires_at, seqs, keyed)
    select coalesce(o.claimed_by, 'nobody'), o.generation, interval '0', now(), array_agg(o.seq), bool_or(o.ordering_key is not null)
    from core.outbox o where o.status = 'in_flight'
    group by 1, 2),
keyed as (
    insert into core.keys_in_flight (ordering_key, event_id)
    select o.ordering_key, o.id from core.outbox o where o.status = 'in_flight' and o.ordering_key is not null
    on conflict do nothing),
marks as (
    delete from core.claim_cursors),
heads as (
    delete from core.claim_heads),
version as (
    update core.settings s set value = (s.value::bigint + 1)::text where s.key = 'subscriptions_version'),
over as (
    delete from core.settings s where s.key = 'moving_from' returning s.value),
named as (
    insert into core.settings (key, value, description)
    select 'moved_from', o.value, 'the store that `sluice move` brought here' from over o
    on conflict (key) do update set value = excluded.value)
insert into core.audit (actor, surface, action, count, reason, detail)
select $1::text, $2::text, 'move', (select count(*) from core.outbox), $3::text, jsonb_build_object('from', o.value)
from over o
