-- What a group has passed over, and how far its low mark has come; see core.claim_cursor_advance. Index outbox_scan.
select low, first_open, upto, busy
from core.claim_cursor_advance($1::text, $2::bigint, $3::text[])
