-- The next :limit events of outbox_due behind a place, and whether each is stranded: due since :overdue (or at a time that
-- cannot be read), wanted, and waiting only for handlers that do not want it any more. Rows are read where they may be.
select generation, key_blocked, retry_after, seq,
       case when key_blocked = 0 and (retry_after <= :overdue or julianday(retry_after) is null)
                 and (lane <> '' or progress is not null or julianday(retry_after) is null) then
         exists (select 1 from outbox_subscribers as s where s.seq = outbox.seq)
         and (julianday(retry_after) is null
           or (lane <> '' and not exists (
             select 1 from outbox_subscribers as s
             where s.seq = outbox.seq and substr(s.handler_name, 1, instr(s.handler_name || '.', '.') - 1) = outbox.lane))
           or (exists (
               select 1 from json_each(outbox.progress) as handler where not coalesce(handler.value ->> 'exhausted', 0))
             and not exists (
               select 1 from json_each(outbox.progress) as handler
               where not coalesce(handler.value ->> 'exhausted', 0) and julianday(handler.value ->> 'due') is not null
                 and handler.value ->> 'handler' in (
                   select s.handler_name from outbox_subscribers as s where s.seq = outbox.seq))))
       else 0 end
from outbox
where status = 'pending' and deleted_at is null and retry_after is not null
  and (generation, key_blocked, retry_after, seq) > (:generation, :blocked, :place, :seq)
order by generation, key_blocked, retry_after, seq
limit :limit
