-- How far this group has scanned; no row for a group that is new.
select low from core.claim_cursors where group_key = $1::text
