-- The tables that there are.
select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name
