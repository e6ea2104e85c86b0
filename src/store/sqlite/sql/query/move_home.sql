-- Where the store has moved to; no row: it is still here.
select value from settings where key = 'moved_to'
