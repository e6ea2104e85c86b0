-- The checksum that a migration's text would be recorded with.
select md5($1::text)
