-- What the scan may have passed too early. Index outbox_scan.
select oldest_running, first_open, drawn
from core.outbox_scan_gap($1::bigint, $2::bigint, $3::bigint, $4::text[])
