-- The numbers that no event has or whose event is new, as ranges; see core.claim_holes. Index outbox_scan.
select after, upto from core.claim_holes($1::bigint, $2::bigint, $3::bigint, $4::text[])
