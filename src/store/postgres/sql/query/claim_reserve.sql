-- The next numbers of a backlog for this process alone; see core.claim_reserve.
select after, granted from core.claim_reserve($1::text, $2::bigint, $3::bigint, $4::bigint)
