-- The watch that is on, and its highest number. The table is there only while a move is under way.
select (select at from move_touched where name = ''), (select max(at) from move_touched)
