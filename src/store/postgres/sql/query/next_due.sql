-- When the next event of these lanes (null: of all) falls due. What has been due for longer was looked at
-- by a claim, and waits for something else. Index outbox_waiting, once per lane.
select min(w.retry_after), now()
from unnest(coalesce($2::text[], array(select distinct split_part(s.handler_name, '.', 1) from core.subscriptions s) || array[''])) as l(lane),
     lateral (
    select o.retry_after
    from core.outbox o
    where o.generation = $1::bigint and coalesce(o.lane, '') = l.lane and o.retry_after > now() - interval '1 second'
      and o.status = 'pending' and o.deleted_at is null
    order by o.retry_after
    limit 1) w
