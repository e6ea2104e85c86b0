-- What can be claimed among these numbers; see core.claim_late. Index outbox_scan.
select core.claim_late($1::bigint, $2::bigint[], $3::bigint[], $4::text[])
