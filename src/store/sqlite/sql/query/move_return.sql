-- The store is back here.
delete from settings where key = 'moved_to'
