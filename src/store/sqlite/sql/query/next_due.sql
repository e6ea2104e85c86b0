-- When the next event of these lanes (null: of all) falls due. What has been due since before :since was
-- looked at by a claim, and waits for something else (outbox_due).
select retry_after
from outbox
where status = 'pending' and deleted_at is null and retry_after is not null
  and generation = :generation and key_blocked = 0
  and retry_after > :since
  and (:lanes is null or lane = '' or lane in (select value from json_each(:lanes)))
order by retry_after
limit 1
