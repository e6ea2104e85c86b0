-- Moves a bounded batch of pending events to another generation, audited. Index outbox_scan.
select core.outbox_reroute($1::bigint, $2::bigint, $3::int, $4::text, $5::text, $6::text)
