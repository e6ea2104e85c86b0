-- A worker process has ended.
delete from workers where identity = :identity
