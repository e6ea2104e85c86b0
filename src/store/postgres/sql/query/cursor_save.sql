-- Remembers how far this group has scanned; never moves back.
select core.claim_cursor_save($1::text, $2::bigint)
