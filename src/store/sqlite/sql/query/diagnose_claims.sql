-- Claims whose time ran out and that no reaper has taken back: how many, at most :limit, and since when the oldest
-- (outbox_claims).
select count(*), min(ran_out)
from (
  select claim_expires_at as ran_out
  from outbox
  where status = 'in_flight' and coalesce(claim_expires_at, '') <= :now
  order by coalesce(claim_expires_at, '')
  limit :limit)
