-- A page of the audit, newest first. Index audit_pkey, read backwards; audit_event for one event.
select id, at, actor, surface, reason, action, event_id, count, detail
from core.audit
where id < coalesce($1::bigint, 9223372036854775807)
  and ($2::text is null or actor = $2)
  and ($3::text is null or surface = $3)
  and ($4::text is null or action = $4)
  and ($5::text is null or starts_with(action, $5))
  and ($6::uuid is null or event_id = $6)
  and ($7::timestamptz is null or at >= $7)
  and ($8::timestamptz is null or at < $8)
order by id desc
limit $9::int
