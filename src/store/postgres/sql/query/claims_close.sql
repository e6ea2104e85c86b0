-- Forgets batches that others have claimed and of which nothing is in flight any more. Index outbox_scan.
select core.claims_close($1::bigint[])
