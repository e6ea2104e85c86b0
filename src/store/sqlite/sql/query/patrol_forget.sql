-- All but the latest thousand.
delete from stranded where id <= (select max(id) from stranded) - 1000
